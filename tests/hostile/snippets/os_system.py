# expect: ran
import os
print(os.system('touch {{HOST}}/written; echo ESCAPED'))
