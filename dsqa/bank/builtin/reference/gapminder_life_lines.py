import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

world = pd.read_csv("gapminder.csv")
lines = world.pivot_table(index="year", columns="continent", values="lifeExp")
lines.plot()
plt.xlabel("Year")
plt.ylabel("Mean life expectancy (years)")
plt.savefig("lines.png")


def answer(lines):
    rise = lines.loc[2007] - lines.loc[1952]
    return f"@continent[{rise.idxmax()}] @rise[{rise.max():.2f}]"


cells = world.groupby(["year", "continent"])
weighted = cells[["lifeExp", "pop"]].apply(lambda g: np.average(g["lifeExp"], weights=g["pop"])).unstack()
TRAPS = {
    "countries weighted by population": answer(weighted),
    "medians, not means": answer(cells["lifeExp"].median().unstack()),
}
print(answer(lines))
