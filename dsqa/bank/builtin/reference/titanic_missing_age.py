import pandas as pd

titanic = pd.read_csv("titanic.csv")


def answer(count):
    return f"@missing_age[{count}]"


missing = titanic["age"].isna()
TRAPS = {"passengers whose age is recorded": answer((~missing).sum())}
print(answer(missing.sum()))
