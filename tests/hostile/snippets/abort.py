# expect: failed
# detail: SIGABRT|SIGSEGV
import os
os.abort()
