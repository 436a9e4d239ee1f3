# expect: ran
# Signals to a thread of another process, under every number that could be one.
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 234, "aarch64": 131}[platform.machine()]
for pid in [*range(2, 2000), {{PID}}]:
    if libc.syscall(number, pid, pid, 9) == 0:
        print("ESCAPED", pid)
