import pandas as pd

births = pd.read_csv("birthwt.csv")
table = pd.crosstab(births["smoke"], births["low"])
odds_ratio = (table.loc[1, 1] / table.loc[1, 0]) / (table.loc[0, 1] / table.loc[0, 0])
print(f"@odds_ratio[{odds_ratio:.2f}]")
