import pandas as pd

penguins = pd.read_csv("penguins.csv")
means = penguins.groupby("species")["body_mass_g"].mean()
print(f"@adelie[{means['Adelie']:.1f}] @chinstrap[{means['Chinstrap']:.1f}] @gentoo[{means['Gentoo']:.1f}]")
