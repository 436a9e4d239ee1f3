# expect: failed
# detail: exit status 7
import os
os._exit(7)
