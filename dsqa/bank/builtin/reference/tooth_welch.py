import pandas as pd
from scipy import stats

tooth = pd.read_csv("tooth_growth.csv")
oj = tooth.loc[tooth["supp"] == "OJ", "len"]
vc = tooth.loc[tooth["supp"] == "VC", "len"]


def answer(a=oj, b=vc, equal_var=False, alternative="two-sided"):
    test = stats.ttest_ind(a, b, equal_var=equal_var, alternative=alternative)
    return f"@t[{test.statistic:.3f}] @p_value[{test.pvalue:.3f}] @reject[{'yes' if test.pvalue < 0.05 else 'no'}]"


TRAPS = {
    "equal variances assumed (Student's t-test)": answer(equal_var=True),
    "one-sided p-value": answer(alternative="greater"),
    "VC minus OJ": answer(vc, oj),
}
print(answer())
