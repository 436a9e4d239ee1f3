import pandas as pd

mpg = pd.read_csv("mpg.csv")


def answer(repeated):
    return f"@repeated[{repeated.sum()}]"


TRAPS = {"the first of equal rows counted too": answer(mpg.duplicated(keep=False))}
print(answer(mpg.duplicated()))
