import pandas as pd

air = pd.read_csv("airquality.csv")
means = air.groupby("Month")["Temp"].mean()
print(f"@month[{means.idxmax()}] @mean_temp[{means.max():.2f}]")
