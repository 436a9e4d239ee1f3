# expect: ran
import ctypes, os
for change in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.nice(-5)):
    try:
        change()
        print("ESCAPED")
    except OSError:
        pass
