import numpy as np
import pandas as pd

mpg = pd.read_csv("mpg.csv")
n = len(mpg)
x = (mpg["displ"] - mpg["displ"].mean()) / mpg["displ"].std()


def criterion(degree, penalty, log):
    residual = mpg["hwy"] - np.polyval(np.polyfit(x, mpg["hwy"], degree), x)
    return n * log((residual**2).sum() / n) + penalty * (degree + 1)


def answer(penalty=2.0, log=np.log):
    values = {degree: criterion(degree, penalty, log) for degree in (1, 2, 3, 4)}
    best = min(values, key=values.get)
    return f"@degree[{best}] @excess[{values[1] - values[best]:.2f}]"


TRAPS = {
    "BIC, not AIC": answer(penalty=np.log(n)),
    "no penalty": answer(penalty=0),
    "logarithm to base 10": answer(log=np.log10),
}
print(answer())
