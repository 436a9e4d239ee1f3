# expect: timed out
# detail: CPU limit
while True:
    pass
