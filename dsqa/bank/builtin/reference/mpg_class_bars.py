import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

mpg = pd.read_csv("mpg.csv")
counts = mpg["class"].value_counts()
plt.figure(figsize=(7.5, 4.5))
plt.bar(counts.index, counts)
plt.xlabel("Class of car")
plt.ylabel("Rows")
plt.savefig("bars.png")
print(f"@tallest[{counts.idxmax()}] @count[{counts.max()}]")
