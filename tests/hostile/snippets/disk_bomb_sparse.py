# expect: blocked
import os
fd = os.open('sparse', os.O_CREAT | os.O_WRONLY)
os.pwrite(fd, b'x', 1 << 40)
