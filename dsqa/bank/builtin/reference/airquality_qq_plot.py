import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

ozone = np.sort(pd.read_csv("airquality.csv")["Ozone"].dropna())
n = len(ozone)
i = np.arange(1, n + 1)
quantiles = stats.norm.ppf((i - 0.5) / n)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.5))
left.plot(quantiles, ozone, ".")
left.set_ylabel("Ozone (parts per billion)")
right.plot(quantiles, np.log(ozone), ".")
right.set_ylabel("Natural logarithm of Ozone")
figure.supxlabel("Standard normal quantile")
plt.savefig("quantiles.png")


def answer(quantiles):
    raw, log = (np.corrcoef(quantiles, y)[0, 1] for y in (ozone, np.log(ozone)))
    return f"@r_raw[{raw:.4f}] @r_log[{log:.4f}] @closer[{'raw' if raw > log else 'log'}]"


TRAPS = {
    "Blom's positions (i - 3/8) / (n + 1/4)": answer(stats.norm.ppf((i - 0.375) / (n + 0.25))),
    "positions i / (n + 1)": answer(stats.norm.ppf(i / (n + 1))),
    "Filliben's positions (scipy.stats.probplot)": answer(stats.probplot(ozone, fit=False)[0]),
}
print(answer(quantiles))
