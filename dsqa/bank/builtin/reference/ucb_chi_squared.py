import pandas as pd
from scipy import stats

ucb = pd.read_csv("ucb_admissions.csv")


def answer(values="Freq", aggfunc="sum", correction=False, method="pearson"):
    table = ucb.pivot_table(index="Gender", columns="Admit", values=values, aggfunc=aggfunc)
    test = stats.chi2_contingency(table, correction=correction, lambda_=method)
    reject = "yes" if test.pvalue < 0.05 else "no"
    return f"@chi_squared[{test.statistic:.2f}] @df[{test.dof}] @reject[{reject}]"


TRAPS = {
    "with continuity correction (Yates)": answer(correction=True),
    "likelihood-ratio statistic (G)": answer(method="log-likelihood"),
    "rows counted, Freq ignored": answer(aggfunc="count"),
}
print(answer())
