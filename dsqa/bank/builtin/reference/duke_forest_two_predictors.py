import pandas as pd
import statsmodels.formula.api as smf

homes = pd.read_csv("duke_forest.csv")
fit = smf.ols("price ~ area + bed", data=homes).fit()


def answer(slope, r2):
    return f"@per_100_feet[{slope:.2f}] @adjusted_r2[{r2:.3f}]"


alone = smf.ols("price ~ area", data=homes).fit()
TRAPS = {
    "R squared, not adjusted": answer(100 * fit.params["area"], fit.rsquared),
    "per square foot, not per 100": answer(fit.params["area"], fit.rsquared_adj),
    "bed left out": answer(100 * alone.params["area"], alone.rsquared_adj),
}
print(answer(100 * fit.params["area"], fit.rsquared_adj))
