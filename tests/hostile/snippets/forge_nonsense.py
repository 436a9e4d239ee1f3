# expect: blocked
# detail: channel
import os
for fd in range(3, 64):
    try:
        os.write(fd, b"[" * 100_000 + b"\n")
    except OSError:
        pass
os._exit(0)
