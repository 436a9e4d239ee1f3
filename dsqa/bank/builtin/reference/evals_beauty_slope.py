import pandas as pd
import statsmodels.formula.api as smf

evals = pd.read_csv("evals.csv")
fit = smf.ols("score ~ bty_avg", data=evals).fit()


def answer(intercept, slope, r_squared):
    return f"@intercept[{intercept:.3f}] @slope[{slope:.3f}] @r_squared[{r_squared:.3f}]"


exchanged = smf.ols("bty_avg ~ score", data=evals).fit()
TRAPS = {
    "adjusted R squared": answer(*fit.params, fit.rsquared_adj),
    "correlation, not R squared": answer(*fit.params, fit.rsquared**0.5),
    "variables exchanged: bty_avg on score": answer(*exchanged.params, fit.rsquared),
}
print(answer(*fit.params, fit.rsquared))
