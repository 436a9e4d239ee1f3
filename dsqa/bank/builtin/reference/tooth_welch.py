import pandas as pd
from scipy import stats

tooth = pd.read_csv("tooth_growth.csv")
oj = tooth.loc[tooth["supp"] == "OJ", "len"]
vc = tooth.loc[tooth["supp"] == "VC", "len"]
test = stats.ttest_ind(oj, vc, equal_var=False)
reject = "yes" if test.pvalue < 0.05 else "no"
print(f"@t[{test.statistic:.3f}] @p_value[{test.pvalue:.3f}] @reject[{reject}]")
