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


def answer(height):
    return f"@yes_start[{edges[yes.argmax()]}] @no_start[{edges[no.argmax()]}] @no_height[{height:.4f}]"


TRAPS = {
    "share of the women in the bin, not density": answer(no.max() * 20),
    "both groups together have area 1": answer(no.max() * (pima["type"] == "No").mean()),
}
print(answer(no.max()))
