# expect: failed
# detail: FileNotFoundError
import tempfile
open(tempfile.gettempdir() + "/fine", "w").write("x")
open("{{HOST}}/written", "w").write("ESCAPED")
