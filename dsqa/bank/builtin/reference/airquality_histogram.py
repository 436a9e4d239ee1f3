import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

air = pd.read_csv("airquality.csv")
counts, edges, _ = plt.hist(air["Temp"], bins=[50, 60, 70, 80, 90, 100], edgecolor="white")
plt.xlabel("Temperature (°F)")
plt.ylabel("Days")
plt.savefig("histogram.png")
tallest = counts.argmax()
print(f"@bin_start[{edges[tallest]:.0f}] @bin_count[{counts[tallest]:.0f}]")
