# expect: ran
import sys, os
sys.stdout.close()
sys.stderr.close()
os.close(0)
os.close(1)
os.close(2)
