# expect: blocked
import os, signal
os.kill(-1, signal.SIGKILL)
print('ESCAPED')
