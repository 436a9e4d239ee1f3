import pandas as pd
from scipy import stats

sleep = pd.read_csv("sleepstudy.csv")
wide = sleep.pivot_table(index="Subject", columns="Days", values="Reaction")


def answer(test, difference, level=0.95):
    low, high = test.confidence_interval(level)
    return f"@difference[{difference:.2f}] @t[{test.statistic:.2f}] @lower[{low:.2f}] @upper[{high:.2f}]"


difference = (wide[9] - wide[0]).mean()
paired = stats.ttest_rel(wide[9], wide[0])
TRAPS = {
    "not paired (Welch's t-test)": answer(stats.ttest_ind(wide[9], wide[0], equal_var=False), difference),
    "not paired (Student's t-test)": answer(stats.ttest_ind(wide[9], wide[0]), difference),
    "day 0 minus day 9": answer(stats.ttest_rel(wide[0], wide[9]), -difference),
    "90 % interval, not 95 %": answer(paired, difference, 0.9),
}
print(answer(paired, difference))
