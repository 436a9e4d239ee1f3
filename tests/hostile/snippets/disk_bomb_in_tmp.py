# expect: blocked
# detail: No space left
for i in range(1000):
    open(f'/tmp/f{i}', 'wb').write(b'x' * (1 << 20))
