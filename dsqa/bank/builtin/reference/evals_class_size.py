import numpy as np
import pandas as pd

students = pd.read_csv("evals.csv")["cls_students"]


def answer(reach=1.5):
    q1, median, q3 = np.quantile(students, [0.25, 0.5, 0.75])
    below, above = students < q1 - reach * (q3 - q1), students > q3 + reach * (q3 - q1)
    return f"@q1[{q1:.1f}] @median[{median:.1f}] @q3[{q3:.1f}] @outliers[{(below | above).sum()}]"


TRAPS = {
    "3 interquartile ranges, not 1.5": answer(reach=3),
}
print(answer())
