import pandas as pd

cars = pd.read_csv("cars.csv")


def answer(rows):
    return f"@rows[{rows}]"


TRAPS = {"the header line counted too": answer(len(cars) + 1)}
print(answer(len(cars)))
