# expect: timed out
# detail: wall limit
import os
read, write = os.pipe()
os.read(read, 1)
