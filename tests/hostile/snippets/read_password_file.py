# expect: failed
# detail: FileNotFoundError
print(open('/etc/passwd').read(), 'ESCAPED')
