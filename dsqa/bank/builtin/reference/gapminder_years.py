import numpy as np
import pandas as pd

world = pd.read_csv("gapminder.csv")
years = np.sort(world["year"].unique())
(interval,) = set(np.diff(years))
print(f"@first[{years[0]}] @last[{years[-1]}] @interval[{interval}]")
