# expect: failed
# detail: ValueError
raise ValueError('x' * 20_000_000)
