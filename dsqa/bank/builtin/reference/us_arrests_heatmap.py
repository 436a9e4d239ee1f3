import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

arrests = pd.read_csv("us_arrests.csv").drop(columns="State")
matrix = arrests.corr(method="spearman")
plt.figure(figsize=(6, 5))
plt.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r")
plt.colorbar(label="Spearman's rank correlation")
plt.xticks(range(4), matrix.columns)
plt.yticks(range(4), matrix.columns)
for i in range(4):
    for j in range(4):
        r = matrix.iloc[i, j]
        plt.text(j, i, f"{r:.2f}", ha="center", va="center", color="white" if abs(r) > 0.6 else "black")
plt.savefig("heatmap.png")


def answer(matrix):
    pairs = matrix.to_numpy()[np.triu_indices(4, 1)]
    least = ((matrix.sum() - 1) / 3).idxmin()
    return f"@largest[{pairs.max():.3f}] @smallest[{pairs.min():.3f}] @least_related[{least}]"


TRAPS = {
    "Pearson's correlation": answer(arrests.corr()),
    "Kendall's correlation": answer(arrests.corr(method="kendall")),
}
print(answer(matrix))
