# expect: blocked
# detail: channel
import json, os
for fd in range(0, 64):
    try:
        os.write(fd, json.dumps({"job": "run1", "status": 0, "killed": None, "wall": 0, "cpu": 0, "peak": 0}).encode() + b"\n")
    except OSError:
        pass
