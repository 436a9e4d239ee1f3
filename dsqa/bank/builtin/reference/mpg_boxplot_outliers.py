import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

mpg = pd.read_csv("mpg.csv")
groups = [mpg.loc[mpg["drv"] == drv, "hwy"] for drv in "4fr"]
plt.boxplot(groups)
plt.xticks([1, 2, 3], ["four wheels", "front", "rear"])
plt.xlabel("Drive")
plt.ylabel("Highway miles per gallon")
plt.savefig("boxplots.png")


def outliers(x, reach=1.5):
    q1, q3 = np.quantile(x, [0.25, 0.75])
    return x[(x < q1 - reach * (q3 - q1)) | (x > q3 + reach * (q3 - q1))]


def answer(four, front, rear):
    return f"@four[{four}] @front[{front}] @rear[{rear}]"


TRAPS = {
    "points of equal value counted once": answer(*(outliers(group).nunique() for group in groups)),
    "3 interquartile ranges, not 1.5": answer(*(len(outliers(group, 3)) for group in groups)),
}
print(answer(*(len(outliers(group)) for group in groups)))
