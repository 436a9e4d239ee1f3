import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage

penguins = pd.read_csv("penguins.csv")
columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
complete = penguins.dropna(subset=columns)
x = complete[columns]
z = (x - x.mean()) / x.std()
cluster = fcluster(linkage(z, method="ward"), t=3, criterion="maxclust")
sizes = pd.Series(cluster).value_counts()
largest = complete.loc[cluster == sizes.index[0], "species"]
print(f"@largest_size[{sizes.iloc[0]}] @smallest_size[{sizes.iloc[-1]}] @largest_species[{largest.mode()[0]}]")
