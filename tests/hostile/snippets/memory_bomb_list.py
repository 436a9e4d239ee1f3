# expect: killed by memory
x = []
while True:
    x.append(' ' * 10_000_000)
