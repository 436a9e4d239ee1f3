import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

world = pd.read_csv("gapminder.csv")
now = world[world["year"] == 2007]
x = np.log10(now["gdpPercap"])
slope, intercept = np.polyfit(x, now["lifeExp"], 1)
for continent, rows in now.groupby("continent"):
    plt.scatter(rows["gdpPercap"], rows["lifeExp"], s=rows["pop"] / 2e6, alpha=0.6, label=continent)
ends = np.array([x.min(), x.max()])
plt.plot(10**ends, intercept + slope * ends, color="black")
plt.xscale("log")
legend = plt.legend()
for handle in legend.legend_handles:
    handle.set_sizes([30])
plt.xlabel("GDP per head (dollars, logarithmic)")
plt.ylabel("Life expectancy (years)")
plt.savefig("bubbles.png")


def answer(slope, residual):
    return f"@slope[{slope:.2f}] @furthest_below[{now['country'][residual.idxmin()]}]"


weighted, start = np.polyfit(x, now["lifeExp"], 1, w=np.sqrt(now["pop"]))
residual = now["lifeExp"] - intercept - slope * x
TRAPS = {
    "natural logarithm, not base 10": answer(slope / np.log(10), residual),
    "countries weighted by population": answer(weighted, now["lifeExp"] - start - weighted * x),
}
print(answer(slope, residual))
