# expect: timed out
# detail: wall limit
import time
time.sleep(3600)
