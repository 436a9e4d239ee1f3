import pandas as pd

homes = pd.read_csv("duke_forest.csv")


def answer(strip=True, first_only=False, whole=False):
    parking = homes["parking"].str.split(",").explode().str.strip()
    garages = parking.str.startswith("Garage").groupby(level=0).any().sum()
    if first_only:
        garages = homes["parking"].str.startswith("Garage").sum()
    heating = homes["heating"] if whole else homes["heating"].str.split(",").explode()
    heating = heating.str.strip() if strip else heating
    return f"@garage_homes[{garages}] @heating_kinds[{heating.nunique()}]"


TRAPS = {
    "lists of heating not taken apart": answer(whole=True),
    "spaces around the entries kept": answer(strip=False),
    "only the first entry of parking looked at": answer(first_only=True),
}
print(answer())
