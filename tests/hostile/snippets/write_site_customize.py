# expect: blocked
import os, sysconfig
open(os.path.join(sysconfig.get_path("purelib"), "sitecustomize.py"), "w").write("print('ESCAPED')")
