import pandas as pd

cars = pd.read_csv("cars.csv")


def answer(value):
    return f"@mean_dist[{value:.2f}]"


TRAPS = {"median, not mean": answer(cars["dist"].median()), "the column speed": answer(cars["speed"].mean())}
print(answer(cars["dist"].mean()))
