import pandas as pd

penguins = pd.read_csv("penguins.csv")


def answer(rows):
    shares = rows["species"].value_counts(normalize=True)
    return f"@species[{shares.idxmax()}] @right_percent[{100 * shares.max():.1f}]"


TRAPS = {
    "rows with a missing value left out": answer(penguins.dropna()),
    "one in three": f"@right_percent[{100 / 3:.1f}]",
}
print(answer(penguins))
