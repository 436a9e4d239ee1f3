# expect: blocked
import os
os.execv('/usr/bin/env', ['env', 'echo', 'ESCAPED'])
