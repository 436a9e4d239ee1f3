import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

pima = pd.read_csv("pima.csv")
edges = np.arange(40, 201, 20)
yes, _, _ = plt.hist(pima.loc[pima["type"] == "Yes", "glu"], bins=edges, density=True, alpha=0.5, label="diabetes")
no, _, _ = plt.hist(pima.loc[pima["type"] == "No", "glu"], bins=edges, density=True, alpha=0.5, label="none")
plt.legend()
plt.xlabel("Plasma glucose")
plt.ylabel("Density")
plt.savefig("histograms.png")


tallest = no.argmax()


def answer(no, yes):
    return f"@start[{edges[tallest]}] @no_height[{no:.4f}] @yes_height[{yes:.4f}]"


heights = no[tallest], yes[tallest]
with_diabetes = (pima["type"] == "Yes").mean()
TRAPS = {
    "share of the women in the bin, not density": answer(*(20 * height for height in heights)),
    "both groups together have area 1": answer(heights[0] * (1 - with_diabetes), heights[1] * with_diabetes),
}
print(answer(*heights))
