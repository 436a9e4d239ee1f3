import pandas as pd

ucb = pd.read_csv("ucb_admissions.csv")


def answer(applicants, share):
    return f"@applicants[{applicants}] @admitted_percent[{100 * share:.1f}]"


admitted = ucb["Admit"] == "Admitted"
total = ucb["Freq"].sum()
rates = ucb[admitted].groupby(["Gender", "Dept"])["Freq"].sum() / ucb.groupby(["Gender", "Dept"])["Freq"].sum()
TRAPS = {
    "rows counted, Freq ignored": answer(len(ucb), admitted.mean()),
    "unweighted mean of the rates of gender and department": answer(total, rates.mean()),
}
print(answer(total, ucb.loc[admitted, "Freq"].sum() / total))
