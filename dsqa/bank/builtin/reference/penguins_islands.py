import pandas as pd

penguins = pd.read_csv("penguins.csv")


def answer(pairs):
    return f"@species[{widespread}] @pairs[{pairs}]"


table = pd.crosstab(penguins["species"], penguins["island"])
(widespread,) = table.index[(table > 0).all(axis=1)]
TRAPS = {"all combinations, found or not": answer(table.size)}
print(answer((table > 0).to_numpy().sum()))
