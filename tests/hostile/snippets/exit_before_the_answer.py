# expect: ran
# detail: left by exit
import sys
sys.exit(0)
print(42)
