# expect: blocked
# detail: PermissionError
import os
while True:
    os.fork()
