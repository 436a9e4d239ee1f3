# expect: ran
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in (os.getppid(), 1, 2, 3, {{PID}}):
    if libc.ptrace(16, pid, 0, 0) == 0:
        print("ESCAPED", pid)
