# expect: failed
# detail: FileNotFoundError
import os
os.symlink("{{HOST}}", "door")
os.symlink("/etc/passwd", "passwd")
print(os.path.exists("passwd"), os.listdir("door"), "ESCAPED")
