# expect: ran
import os
seen = set(os.listdir("..")) | set(os.listdir("."))
if seen - {"work", "tmp", "snippet.py", "data.csv"}:
    print("ESCAPED", seen)
