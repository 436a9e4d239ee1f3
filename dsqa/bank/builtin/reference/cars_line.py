import numpy as np
import pandas as pd

cars = pd.read_csv("cars.csv")


def answer(slope, intercept):
    return f"@intercept[{intercept:.2f}] @slope[{slope:.2f}]"


through_origin = (cars["speed"] @ cars["dist"]) / (cars["speed"] @ cars["speed"])
TRAPS = {
    "variables exchanged: speed on dist": answer(*np.polyfit(cars["dist"], cars["speed"], 1)),
    "no intercept": answer(through_origin, 0),
}
print(answer(*np.polyfit(cars["speed"], cars["dist"], 1)))
