# expect: blocked
# detail: Too many open files
files = []
while True:
    files.append(open('/dev/null'))
