# expect: failed|killed by memory|timed out
import sys
sys.setrecursionlimit(10**9)
x = []
for _ in range(5_000_000):
    x = [x]
repr(x)
