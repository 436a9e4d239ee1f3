import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

looms = pd.read_csv("warpbreaks.csv")
groups = [looms.loc[looms["tension"] == tension, "breaks"] for tension in "LMH"]
plt.boxplot(groups)
plt.xticks([1, 2, 3], ["low", "medium", "high"])
plt.xlabel("Tension")
plt.ylabel("Breaks per loom")
plt.savefig("boxplots.png")


def answer(low, medium, high):
    return f"@low[{low:.1f}] @medium[{medium:.1f}] @high[{high:.1f}]"


TRAPS = {
    "means, not medians": answer(*(group.mean() for group in groups)),
    "tensions in alphabetical order (H, L, M)": answer(*(groups[i].median() for i in (2, 0, 1))),
}
print(answer(*(group.median() for group in groups)))
