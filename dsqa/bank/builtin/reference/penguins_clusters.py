import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage

penguins = pd.read_csv("penguins.csv")
columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
complete = penguins.dropna(subset=columns)
x = complete[columns]


def answer(z, method="ward"):
    cluster = fcluster(linkage(z, method=method), t=3, criterion="maxclust")
    sizes = pd.Series(cluster).value_counts()
    species = complete.loc[cluster == sizes.index[0], "species"].mode()[0]
    return f"@largest_size[{sizes.iloc[0]}] @smallest_size[{sizes.iloc[-1]}] @largest_species[{species}]"


scaled = (x - x.mean()) / x.std()
TRAPS = {
    "not scaled": answer(x),
    "complete linkage, not Ward's method": answer(scaled, "complete"),
    "average linkage, not Ward's method": answer(scaled, "average"),
}
print(answer(scaled))
