# expect: ran
import atexit
atexit.register(print, 'bye')
