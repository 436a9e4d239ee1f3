# expect: blocked
# detail: PermissionError
import subprocess
print(subprocess.run(['id'], capture_output=True, text=True).stdout, 'ESCAPED')
