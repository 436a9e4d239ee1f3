# expect: ran
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
if libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0) >= 0:
    print("ESCAPED")
