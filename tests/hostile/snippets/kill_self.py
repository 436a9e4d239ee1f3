# expect: blocked
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
