# expect: ran
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(16)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
local = Vector(ctypes.addressof(buffer), 16)
for pid in (1, 2, 3, {{PID}}):
    if libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(local), 1, 0) >= 0:
        print("ESCAPED", pid)
