# expect: failed
# detail: FileNotFoundError
import os
print(os.listdir("{{HOST}}/runs"))
