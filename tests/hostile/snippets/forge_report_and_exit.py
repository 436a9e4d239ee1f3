# expect: ran
# It may lie about itself, as a print would: no more than its own value.
import json, os
for fd in range(3, 64):
    try:
        os.write(fd, json.dumps({"kind": "done", "status": 0, "value": "FORGED"}).encode() + b"\n")
    except OSError:
        pass
os._exit(0)
