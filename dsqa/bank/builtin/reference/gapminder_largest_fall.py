import pandas as pd

world = pd.read_csv("gapminder.csv").sort_values(["country", "year"])


def answer(change):
    worst = change.idxmin()
    return f"@country[{world['country'][worst]}] @year[{world['year'][worst]}] @fall[{-change[worst]:.2f}]"


TRAPS = {"differences taken across the border of two countries": answer(world["lifeExp"].diff())}
print(answer(world.groupby("country")["lifeExp"].diff()))
