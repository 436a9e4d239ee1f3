import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

births = pd.read_csv("birthwt.csv")


def answer(formula, ratio=np.exp, sides=2):
    fit = smf.logit(formula, data=births).fit(disp=False)
    return f"@odds_ratio[{ratio(fit.params['smoke']):.2f}] @p_value[{sides / 2 * fit.pvalues['smoke']:.3f}]"


formula = "low ~ age + lwt + C(race, Treatment(1)) + smoke"
TRAPS = {
    "race entered as a number": answer("low ~ age + lwt + race + smoke"),
    "log odds ratio": answer(formula, ratio=float),
    "one-sided p-value": answer(formula, sides=1),
    "smoke alone in the model": answer("low ~ smoke"),
}
print(answer(formula))
