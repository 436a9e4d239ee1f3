import pandas as pd

air = pd.read_csv("airquality.csv")


def answer(hot):
    run = (hot != hot.shift()).cumsum()[hot]
    longest = run.value_counts()
    first = air.loc[run.index[run == longest.idxmax()][0]]
    return f"@days[{longest.max()}] @month[{first['Month']:.0f}] @day[{first['Day']:.0f}]"


TRAPS = {"more than 80, not at least 80": answer(air["Temp"] > 80)}
print(answer(air["Temp"] >= 80))
