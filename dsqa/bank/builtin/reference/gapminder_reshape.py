import numpy as np
import pandas as pd

world = pd.read_csv("gapminder.csv")


def answer(transform=np.log10, ddof=1):
    wide = transform(world.pivot_table(index="country", columns="year", values="gdpPercap"))
    z = (wide - wide.mean()) / wide.std(ddof=ddof)
    rise = z[2007] - z[1952]
    return f"@country[{rise.idxmax()}] @rise[{rise.max():.2f}]"


def keep(x):
    return x


def centred():
    wide = np.log10(world.pivot_table(index="country", columns="year", values="gdpPercap"))
    rise = wide[2007] - wide[1952]
    return f"@country[{rise.idxmax()}] @rise[{rise.max():.2f}]"


TRAPS = {"no logarithm taken": answer(keep), "not standardised": centred()}
print(answer())
