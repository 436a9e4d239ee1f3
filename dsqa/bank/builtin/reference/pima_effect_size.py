import numpy as np
import pandas as pd

pima = pd.read_csv("pima.csv")
yes, no = (pima.loc[pima["type"] == kind, "glu"] for kind in ("Yes", "No"))
n = len(yes) + len(no)


def answer(sd, factor=1.0):
    d = factor * (yes.mean() - no.mean()) / sd
    return f"@cohens_d[{d:.3f}] @below_percent[{100 * (no < yes.mean()).mean():.1f}]"


squares = yes.var(ddof=0) * len(yes) + no.var(ddof=0) * len(no)
pooled = np.sqrt(squares / (n - 2))
complete = pima.dropna()
a, b = (complete.loc[complete["type"] == kind, "glu"] for kind in ("Yes", "No"))
s = np.sqrt(((len(a) - 1) * a.var() + (len(b) - 1) * b.var()) / (len(a) + len(b) - 2))
TRAPS = {
    "divisor n1 + n2, not n1 + n2 - 2": answer(np.sqrt(squares / n)),
    "Hedges' correction for small samples": answer(pooled, 1 - 3 / (4 * n - 9)),
    "standard deviation of all women together": answer(pima["glu"].std()),
    "standard deviation of the women without diabetes (Glass)": answer(no.std()),
    "rows with a missing value left out first": f"@cohens_d[{(a.mean() - b.mean()) / s:.3f}]",
}
print(answer(pooled))
