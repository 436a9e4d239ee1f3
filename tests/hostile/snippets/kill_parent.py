# expect: blocked
import os, signal
os.kill(os.getppid(), signal.SIGKILL)
os.kill({{PID}}, signal.SIGKILL)
print('ESCAPED')
