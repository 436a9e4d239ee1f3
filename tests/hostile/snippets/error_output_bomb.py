# expect: timed out
import sys
while True:
    sys.stderr.write('x' * 100_000)
