import pandas as pd
import statsmodels.formula.api as smf

evals = pd.read_csv("evals.csv")
fit = smf.ols("score ~ bty_avg * C(gender, Treatment('female'))", data=evals).fit()
slope, difference = fit.params["bty_avg"], fit.params.iloc[3]
p = fit.pvalues.iloc[3]


def answer(men, p):
    significant = "yes" if p < 0.05 else "no"
    return f"@slope_women[{slope:.3f}] @slope_men[{men:.3f}] @p_value[{p:.3f}] @significant[{significant}]"


TRAPS = {
    "the interaction's coefficient taken for the slope of men": answer(difference, p),
    "one-sided p-value": answer(slope + difference, p / 2),
    "p-value of gender, not of the interaction": answer(slope + difference, fit.pvalues.iloc[1]),
}
print(answer(slope + difference, p))
