# expect: ran
# The process's own copy of the environment, below Python's.
import ctypes
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
print(libc.getenv(b"DSQA_HOSTILE_KEY") or "nothing", libc.getenv(b"OPENAI_API_KEY") or "nothing")
