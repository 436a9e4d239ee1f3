import pandas as pd
import statsmodels.formula.api as smf

mpg = pd.read_csv("mpg.csv")


def answer(auxiliary):
    with_cyl = smf.ols("hwy ~ displ + cyl + year", data=mpg).fit().bse["displ"]
    without = smf.ols("hwy ~ displ + year", data=mpg).fit().bse["displ"]
    vif = 1 / (1 - smf.ols(auxiliary, data=mpg).fit().rsquared)
    return f"@vif[{vif:.2f}] @se_with[{with_cyl:.3f}] @se_without[{without:.3f}]"


centred = 1 - smf.ols("displ ~ 0 + cyl + year", data=mpg).fit().rsquared
TRAPS = {
    "auxiliary regression without an intercept (statsmodels, no constant added)": f"@vif[{1 / centred:.2f}]",
    "response used in the auxiliary regression": answer("displ ~ cyl + year + hwy"),
}
print(answer("displ ~ cyl + year"))
