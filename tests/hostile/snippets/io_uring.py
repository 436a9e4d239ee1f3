# expect: ran
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(256)
for number in (425, 323, 321, 298, 250, 319, 29):
    if libc.syscall(number, 8, buffer, 0, 0, 0) >= 0:
        print("ESCAPED", number)
