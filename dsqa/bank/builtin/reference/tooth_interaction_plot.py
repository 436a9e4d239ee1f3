import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

tooth = pd.read_csv("tooth_growth.csv")
lines = tooth.pivot_table(index="dose", columns="supp", values="len")
lines.plot(marker="o")
plt.xlabel("Dose (mg per day)")
plt.ylabel("Mean length of teeth")
plt.savefig("lines.png")


def answer(lines):
    gap = lines["OJ"] - lines["VC"]
    parallel = "yes" if gap.max() - gap.min() < 1 else "no"
    return f"@gap_lowest[{gap[0.5]:.2f}] @gap_highest[{gap[2.0]:.2f}] @parallel[{parallel}]"


TRAPS = {
    "VC minus OJ": answer(lines.rename(columns={"OJ": "VC", "VC": "OJ"})),
    "medians, not means": answer(tooth.pivot_table(index="dose", columns="supp", values="len", aggfunc="median")),
}
print(answer(lines))
