# expect: failed
# detail: FileNotFoundError
import os
for root in ("{{HOST}}", "/root", "/home", os.path.expanduser("~")):
    for folder, _, files in os.walk(root):
        for name in files:
            if "secret" in name or name in {".env", ".bashrc", "id_rsa", ".netrc"}:
                print("ESCAPED", folder, name)
print(open("{{HOST}}/.env").read())
