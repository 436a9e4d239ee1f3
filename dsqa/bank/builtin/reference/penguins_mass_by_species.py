import pandas as pd

penguins = pd.read_csv("penguins.csv")


def answer(rows):
    means = rows.groupby("species")["body_mass_g"].mean()
    return f"@adelie[{means['Adelie']:.1f}] @chinstrap[{means['Chinstrap']:.1f}] @gentoo[{means['Gentoo']:.1f}]"


TRAPS = {
    "rows with a missing value in any column left out": answer(penguins.dropna()),
    "missing body mass taken as 0": answer(penguins.fillna({"body_mass_g": 0})),
}
print(answer(penguins))
