# expect: ran
# Every descriptor it was left with: streams and the write-only report, nothing of the host.
import os, stat
for fd in range(1024):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    if stat.S_ISSOCK(mode) or stat.S_ISDIR(mode) or (stat.S_ISREG(mode)):
        print("ESCAPED", fd, oct(mode))
    if stat.S_ISFIFO(mode):
        try:
            os.set_blocking(fd, False)
            os.read(fd, 1)
            print("ESCAPED: can read", fd)
        except OSError:
            pass
