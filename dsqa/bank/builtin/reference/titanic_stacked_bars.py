import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

titanic = pd.read_csv("titanic.csv")


def shares(rows, by="index"):
    return 100 * pd.crosstab(rows["passengerClass"], rows["survived"], normalize=by)


bars = shares(titanic)
bars[["yes", "no"]].plot.bar(stacked=True, rot=0)
plt.legend(title="survived", loc="upper left", bbox_to_anchor=(1, 1))
plt.tight_layout()
plt.xlabel("Class")
plt.ylabel("Per cent of the passengers")
plt.savefig("bars.png")


def answer(shares):
    return f"@first[{shares.loc['1st', 'yes']:.1f}] @third[{shares.loc['3rd', 'yes']:.1f}]"


TRAPS = {
    "share of each class among all survivors": answer(shares(titanic, "columns")),
    "share of all passengers": answer(shares(titanic, "all")),
    "passengers of unknown age left out": answer(shares(titanic.dropna())),
}
print(answer(bars))
