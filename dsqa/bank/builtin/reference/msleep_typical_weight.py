import pandas as pd

msleep = pd.read_csv("msleep.csv")


def answer(rows):
    weight = rows["bodywt"]
    better = "median" if weight.skew() > 1 else "mean"
    return f"@mean[{weight.mean():.2f}] @median[{weight.median():.2f}] @better[{better}]"


TRAPS = {"rows with a missing value in any column left out": answer(msleep.dropna())}
print(answer(msleep))
