import numpy as np
import pandas as pd

world = pd.read_csv("gapminder.csv")


def answer(rows):
    weighted = np.average(rows["lifeExp"], weights=rows["pop"])
    return f"@plain[{rows['lifeExp'].mean():.2f}] @weighted[{weighted:.2f}]"


asia = world[world["continent"] == "Asia"]
TRAPS = {"all years, not 2007 alone": answer(asia), "all continents": answer(world[world["year"] == 2007])}
print(answer(asia[asia["year"] == 2007]))
