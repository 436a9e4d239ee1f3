# expect: blocked
import os, signal
os.killpg(0, signal.SIGKILL)
print('ESCAPED')
