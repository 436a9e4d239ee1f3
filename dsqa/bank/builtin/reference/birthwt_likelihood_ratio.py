import pandas as pd
import statsmodels.formula.api as smf
from scipy import stats

births = pd.read_csv("birthwt.csv")
smaller = smf.logit("low ~ age + lwt + smoke", data=births).fit(disp=False)
larger = smf.logit("low ~ age + lwt + smoke + C(race)", data=births).fit(disp=False)
number = smf.logit("low ~ age + lwt + smoke + race", data=births).fit(disp=False)
ratio = 2 * (larger.llf - smaller.llf)


def answer(statistic, df, model=larger):
    return f"@statistic[{statistic:.3f}] @p_value[{stats.chi2.sf(statistic, df):.3f}] @deviance[{-2 * model.llf:.2f}]"


wald = larger.wald_test_terms(scalar=True).table.loc["C(race)", "statistic"]
TRAPS = {
    "Wald test, not likelihood ratio": answer(wald, 2),
    "one degree of freedom, not two": answer(ratio, 1),
    "race entered as a number": answer(2 * (number.llf - smaller.llf), 1, number),
    "difference of log-likelihoods, not doubled": answer(ratio / 2, 2),
}
print(answer(ratio, 2))
