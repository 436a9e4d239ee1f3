import numpy as np
import pandas as pd

cars = pd.read_csv("cars.csv")
slope, intercept = np.polyfit(cars["speed"], cars["dist"], 1)
squares = ((cars["dist"] - intercept - slope * cars["speed"]) ** 2).sum()
n = len(cars)


def answer(divisor):
    return f"@residual_se[{np.sqrt(squares / divisor):.2f}] @predicted[{intercept + slope * 21:.2f}]"


TRAPS = {"divisor n, not n - 2": answer(n), "divisor n - 1, not n - 2": answer(n - 1)}
print(answer(n - 2))
