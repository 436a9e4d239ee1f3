import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

air = pd.read_csv("airquality.csv")
counts, edges, _ = plt.hist(air["Temp"], bins=[50, 60, 70, 80, 90, 100], edgecolor="white")
plt.xlabel("Temperature (°F)")
plt.ylabel("Days")
plt.savefig("histogram.png")


def answer(counts, edges):
    tallest = counts.argmax()
    return f"@bin_start[{edges[tallest]:.0f}] @bin_count[{counts[tallest]:.0f}]"


right_closed = pd.cut(air["Temp"], [50, 60, 70, 80, 90, 100]).value_counts(sort=False).to_numpy()
TRAPS = {
    "bins closed on the right, not on the left (hist in R)": answer(right_closed, edges),
    "ten bins of equal width over the range of the data": answer(*np.histogram(air["Temp"])),
}
print(answer(counts, edges))
