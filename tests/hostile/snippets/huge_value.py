# expect: ran
'x' * 20_000_000
