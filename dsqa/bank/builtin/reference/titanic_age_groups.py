import numpy as np
import pandas as pd

titanic = pd.read_csv("titanic.csv")
names = ["child", "teenager", "adult", "senior"]


def answer(right=False):
    group = pd.cut(titanic["age"], [-np.inf if right else 0, 13, 18, 65, np.inf], right=right, labels=names)
    counts = group.value_counts()
    known = " ".join(f"@{name}[{counts[name]}]" for name in names)
    return f"{known} @unknown[{group.isna().sum()}]"


TRAPS = {"groups closed on the right (13 is a child)": answer(right=True)}
print(answer())
