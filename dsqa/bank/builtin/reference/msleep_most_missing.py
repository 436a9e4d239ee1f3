import pandas as pd

msleep = pd.read_csv("msleep.csv")


def answer(missing, of):
    return f"@column[{missing.idxmax()}] @missing_percent[{100 * missing.max() / of:.1f}]"


missing = msleep.isna().sum()
TRAPS = {"per cent of the entries that are there": answer(missing, len(msleep) - missing.max())}
print(answer(missing, len(msleep)))
