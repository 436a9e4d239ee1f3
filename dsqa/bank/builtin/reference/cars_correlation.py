import pandas as pd

cars = pd.read_csv("cars.csv")


def answer(method):
    return f"@correlation[{cars['speed'].corr(cars['dist'], method=method):.3f}]"


TRAPS = {
    "Spearman's correlation": answer("spearman"),
    "Kendall's correlation": answer("kendall"),
    "the square of the correlation": f"@correlation[{cars['speed'].corr(cars['dist']) ** 2:.3f}]",
}
print(answer("pearson"))
