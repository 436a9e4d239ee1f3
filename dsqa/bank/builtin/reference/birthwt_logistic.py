import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

births = pd.read_csv("birthwt.csv")
fit = smf.logit("low ~ age + lwt + C(race, Treatment(1)) + smoke", data=births).fit(disp=False)
odds_ratio = np.exp(fit.params["smoke"])
print(f"@odds_ratio[{odds_ratio:.2f}] @p_value[{fit.pvalues['smoke']:.3f}]")
