# expect: blocked
# detail: Read-only file system
open('/dsqa-was-here', 'w').write('x')
print('ESCAPED')
