import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

cars = pd.read_csv("cars.csv")
plt.scatter(cars["speed"], cars["dist"])
plt.axhline(80, linestyle="dashed", color="grey")
plt.xlabel("Speed (miles per hour)")
plt.ylabel("Stopping distance (feet)")
plt.savefig("scatter.png")


def answer(above):
    return f"@above_80[{above.sum()}]"


TRAPS = {"80 itself counted too": answer(cars["dist"] >= 80)}
print(answer(cars["dist"] > 80))
