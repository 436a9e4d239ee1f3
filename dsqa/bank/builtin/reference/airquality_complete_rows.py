import pandas as pd

air = pd.read_csv("airquality.csv")
print(f"@complete_rows[{len(air.dropna())}]")
