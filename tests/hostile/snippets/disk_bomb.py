# expect: blocked
with open('big', 'wb') as f:
    while True:
        f.write(b'x' * (1 << 20))
        f.flush()
