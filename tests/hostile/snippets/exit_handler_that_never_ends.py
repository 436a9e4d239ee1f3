# expect: timed out
import atexit, time
atexit.register(time.sleep, 3600)
