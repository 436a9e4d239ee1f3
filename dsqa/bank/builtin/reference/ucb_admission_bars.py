import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

ucb = pd.read_csv("ucb_admissions.csv")
counts = ucb.pivot_table(index=["Dept", "Gender"], columns="Admit", values="Freq")
rates = (100 * counts["Admitted"] / counts.sum(axis=1)).unstack()
rates[["Male", "Female"]].plot.bar(rot=0)
plt.xlabel("Department")
plt.ylabel("Per cent admitted")
plt.savefig("bars.png")
gap = rates["Female"] - rates["Male"]
largest = gap.abs().idxmax()


def answer(higher, difference):
    return f"@women_higher[{higher}] @department[{largest}] @difference[{difference:.1f}]"


TRAPS = {
    "men minus women": answer((gap < 0).sum(), -gap[largest]),
    "numbers of applicants compared, not percentages": answer(
        (counts["Admitted"].xs("Female", level="Gender") > counts["Admitted"].xs("Male", level="Gender")).sum(),
        gap[largest],
    ),
}
print(answer((gap > 0).sum(), gap[largest]))
