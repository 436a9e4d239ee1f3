# expect: ran
import os
for folder in (".", "..", "/tmp", "../tmp"):
    try:
        open(os.path.join(folder, "left-behind"), "w").write("TAMPERED")
    except OSError:
        pass
open("data.csv.bak", "w").write("x")
open("pandas.py", "w").write("print('TAMPERED')")
