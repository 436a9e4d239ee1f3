# expect: blocked
# detail: PermissionError
open('data.csv', 'w').write('a,b\n0,0\n')
print('ESCAPED')
