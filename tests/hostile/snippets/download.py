# expect: blocked
# detail: URLError
import pandas as pd
print(pd.read_csv("http://127.0.0.1:{{PORT}}/x.csv"), "ESCAPED")
