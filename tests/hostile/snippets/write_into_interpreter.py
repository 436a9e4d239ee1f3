# expect: blocked
# detail: OSError|PermissionError
import pandas
open(pandas.__file__, "a").write("\nprint('ESCAPED')\n")
