import pandas as pd

air = pd.read_csv("airquality.csv")


def answer(rows):
    return f"@complete_rows[{rows}]"


TRAPS = {
    "rows dropped, not rows left": answer(len(air) - len(air.dropna())),
    "rows in which Ozone is there": answer(len(air.dropna(subset=["Ozone"]))),
}
print(answer(len(air.dropna())))
