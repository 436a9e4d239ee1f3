# expect: failed
# detail: broke its worker twice
import json, os
for fd in range(3, 64):
    try:
        os.write(fd, json.dumps({"kind": "setup", "message": "gone"}).encode() + b"\n")
    except OSError:
        pass
os._exit(1)
