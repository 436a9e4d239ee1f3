import numpy as np
import pandas as pd

air = pd.read_csv("airquality.csv")


def design(rows, columns):
    return np.column_stack([np.ones(len(rows)), rows[columns]])


def errors(rows, columns):
    x, y = design(rows, columns), rows["Ozone"].to_numpy()
    hat = x @ np.linalg.solve(x.T @ x, x.T)
    residual = y - hat @ y
    return residual / (1 - np.diag(hat)), residual


def rms(values, lost=0):
    return np.sqrt((values**2).sum() / (len(values) - lost))


def answer(rows, lost=0, mean=rms):
    small, _ = errors(rows, ["Temp"])
    large, residual = errors(rows, ["Temp", "Wind", "Solar.R"])
    return f"@cv_small[{mean(small):.2f}] @cv_large[{mean(large):.2f}] @fitted_large[{mean(residual, lost):.2f}]"


complete = air.dropna()
own = air.dropna(subset=["Ozone"])
TRAPS = {
    "divisor n - 4, not n": answer(complete, lost=4),
    "mean absolute error": answer(complete, mean=lambda v, lost=0: np.abs(v).mean()),
    "the smaller model on all days with Ozone": f"@cv_small[{rms(errors(own, ['Temp'])[0]):.2f}]",
}
print(answer(complete))
