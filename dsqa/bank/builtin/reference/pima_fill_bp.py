import pandas as pd

bp = pd.read_csv("pima.csv")["bp"]


def answer(filled):
    return f"@median[{bp.median():.1f}] @mean_after[{filled.mean():.2f}]"


TRAPS = {
    "missing values left out, or replaced by the mean": answer(bp),
    "missing values replaced by 0": answer(bp.fillna(0)),
}
print(answer(bp.fillna(bp.median())))
