import pandas as pd

air = pd.read_csv("airquality.csv")


def answer(rows):
    means = rows.groupby("Month")["Temp"].mean()
    return f"@month[{means.idxmax()}] @mean_temp[{means.max():.2f}]"


TRAPS = {"days with a missing value in another column left out": answer(air.dropna())}
print(answer(air))
