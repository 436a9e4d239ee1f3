import pandas as pd

world = pd.read_csv("gapminder.csv")


def answer(counts):
    return f"@continent[{counts.idxmax()}] @countries[{counts.max()}]"


by_continent = world.groupby("continent")["country"]
TRAPS = {"rows (a country in a year) counted, not countries": answer(by_continent.size())}
print(answer(by_continent.nunique()))
