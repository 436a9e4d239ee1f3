# expect: blocked
# detail: PermissionError
import os
print(os.listdir('/'), 'ESCAPED')
