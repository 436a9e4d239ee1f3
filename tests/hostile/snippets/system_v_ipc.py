# expect: ran
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(4711, 4096, 0o1666) >= 0 or libc.msgget(4711, 0o1666) >= 0 or libc.semget(4711, 1, 0o1666) >= 0:
    print("ESCAPED")
