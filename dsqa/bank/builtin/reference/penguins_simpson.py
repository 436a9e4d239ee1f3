import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

columns = ["bill_length_mm", "bill_depth_mm"]
penguins = pd.read_csv("penguins.csv").dropna(subset=columns)


def line(rows, y="bill_depth_mm", x="bill_length_mm", **style):
    slope, intercept = np.polyfit(rows[x], rows[y], 1)
    ends = np.array([rows[x].min(), rows[x].max()])
    if style:
        plt.plot(ends, intercept + slope * ends, **style)
    return slope


overall = line(penguins, color="black", linestyle="dashed", label="all")
within = {}
for i, (species, rows) in enumerate(penguins.groupby("species")):
    plt.scatter(rows["bill_length_mm"], rows["bill_depth_mm"], s=8, color=f"C{i}", label=species)
    within[species] = line(rows, color=f"C{i}")
plt.legend()
plt.xlabel("Bill length (mm)")
plt.ylabel("Bill depth (mm)")
plt.savefig("scatter.png")
changes = "yes" if all(slope * overall < 0 for slope in within.values()) else "no"


def answer(overall, gentoo):
    return f"@slope_all[{overall:.3f}] @slope_gentoo[{gentoo:.3f}] @sign_changes[{changes}]"


gentoo = penguins[penguins["species"] == "Gentoo"]
TRAPS = {
    "axes exchanged: length on depth": answer(*(line(r, *columns) for r in (penguins, gentoo))),
    "correlations, not slopes": answer(*(r[columns].corr().iloc[0, 1] for r in (penguins, gentoo))),
}
print(answer(overall, within["Gentoo"]))
