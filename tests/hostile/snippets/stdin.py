# expect: failed
# detail: EOFError
print(input('your key? '), 'ESCAPED')
