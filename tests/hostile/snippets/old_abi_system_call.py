# expect: failed
# x32 numbers go past a careless filter; the process is killed.
import ctypes, platform
if platform.machine() == "x86_64":
    ctypes.CDLL(None).syscall(0x40000000 | 41, 2, 1, 0)
    print("ESCAPED")
else:
    raise RuntimeError("no such thing here")
