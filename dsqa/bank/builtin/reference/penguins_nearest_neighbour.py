import numpy as np
import pandas as pd

penguins = pd.read_csv("penguins.csv")
columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
complete = penguins.dropna(subset=columns)
x = complete[columns]
species = complete["species"].to_numpy()


def answer(z):
    z = z.to_numpy()
    distance = ((z[:, None] - z[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    wrong = pd.Series(species[species[distance.argmin(axis=1)] != species]).value_counts()
    return f"@errors[{wrong.sum()}] @most_errors[{wrong.idxmax()}]"


TRAPS = {"not scaled": answer(x)}
print(answer((x - x.mean()) / x.std()))
