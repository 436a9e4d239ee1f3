# expect: failed
# detail: SIGSEGV
import ctypes
ctypes.string_at(0)
