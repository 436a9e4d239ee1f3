# expect: blocked
import os
os.link(os.__file__, "master")
open("master", "a").write("ESCAPED")
