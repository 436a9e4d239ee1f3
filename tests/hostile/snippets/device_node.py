# expect: blocked
# detail: PermissionError
import os, stat
os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0))
print("ESCAPED")
