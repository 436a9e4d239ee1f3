# expect: blocked
import os
os.chdir("../../../../..")
open("dsqa-was-here", "w").write("ESCAPED")
