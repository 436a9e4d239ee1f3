# expect: ran
# detail: left its process
import os
os._exit(0)
