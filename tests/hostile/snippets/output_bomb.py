# expect: timed out
while True:
    print('x' * 100_000)
