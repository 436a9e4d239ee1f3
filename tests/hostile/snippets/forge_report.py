# expect: blocked
# detail: channel
import json, os
for fd in range(3, 64):
    try:
        os.write(fd, json.dumps({"kind": "done", "status": 0, "value": "FORGED"}).encode() + b"\n")
    except OSError:
        pass
raise ValueError("not reported")
