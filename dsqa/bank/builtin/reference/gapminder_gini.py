import numpy as np
import pandas as pd

world = pd.read_csv("gapminder.csv")
income = world.loc[world["year"] == 2007, "gdpPercap"].to_numpy()
n = len(income)


def answer(pairs):
    differences = np.abs(income[:, None] - income[None]).sum()
    lower, upper = np.quantile(income, [0.25, 0.75])
    return f"@gini[{differences / pairs / (2 * income.mean()):.3f}] @quartile_ratio[{upper / lower:.2f}]"


TRAPS = {"pairs of two different countries only (n (n - 1))": answer(n * (n - 1))}
print(answer(n * n))
