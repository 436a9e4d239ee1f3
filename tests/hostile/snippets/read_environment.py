# expect: ran
import os
if "{{SECRET}}" in str(dict(os.environ)) or any("KEY" in name for name in os.environ):
    print("ESCAPED", os.environ)
print(sorted(os.environ))
