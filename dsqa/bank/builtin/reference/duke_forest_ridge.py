import numpy as np
import pandas as pd

homes = pd.read_csv("duke_forest.csv").dropna(subset=["lot"])
x = homes[["area", "bed", "bath", "lot"]]
y = (homes["price"] - homes["price"].mean()) / 1000
n = len(y)


def slopes(penalty, ddof=0):
    z = ((x - x.mean()) / x.std(ddof=ddof)).to_numpy()
    return np.linalg.solve(z.T @ z + penalty * np.eye(4), z.T @ y.to_numpy())


def answer(penalty=50, ddof=0):
    ridge, least_squares = slopes(penalty, ddof), slopes(0, ddof)
    return f"@area[{ridge[0]:.2f}] @factor[{(ridge**2).sum() / (least_squares**2).sum():.3f}]"


TRAPS = {
    "scaled with divisor n - 1 (ddof=1), not n": answer(ddof=1),
    "mean of squared residuals, not their sum (glmnet)": answer(penalty=50 * n),
    "ordinary least squares": answer(penalty=0),
}
print(answer())
