# expect: ran
# Its own copy may go; the master and the next run's copy must not.
import os
os.remove("data.csv")
open("data.csv", "w").write("a,b\n0,0\n")
