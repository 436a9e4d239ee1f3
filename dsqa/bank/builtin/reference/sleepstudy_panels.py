import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

sleep = pd.read_csv("sleepstudy.csv")
figure, axes = plt.subplots(3, 6, sharex=True, sharey=True, figsize=(9, 5))
lines = {}
for ax, (subject, rows) in zip(axes.flat, sleep.groupby("Subject"), strict=True):
    slope, intercept = np.polyfit(rows["Days"], rows["Reaction"], 1)
    ax.plot(rows["Days"], rows["Reaction"], "o", markersize=3)
    ax.plot(rows["Days"], intercept + slope * rows["Days"])
    ax.set_title(subject, fontsize=8)
    lines[subject] = slope
figure.supxlabel("Days with little sleep")
figure.supylabel("Reaction time (ms)")
plt.savefig("panels.png")


def answer(slopes):
    return f"@panels[{len(slopes)}] @steepest[{slopes.idxmax()}] @slope[{slopes.max():.2f}]"


wide = sleep.pivot_table(index="Subject", columns="Days", values="Reaction")
TRAPS = {"first and last day only, no line fitted": answer((wide[9] - wide[0]) / 9)}
print(answer(pd.Series(lines)))
