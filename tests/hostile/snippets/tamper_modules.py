# expect: ran
import builtins, json, sys
import pandas as pd
import numpy as np
pd.read_csv = lambda *a, **k: "TAMPERED"
np.mean = lambda *a: -1
builtins.print = lambda *a, **k: None
json.dumps = lambda *a, **k: "TAMPERED"
sys.modules["math"] = None
pd.options.display.precision = 1
