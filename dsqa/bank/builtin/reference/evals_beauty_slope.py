import pandas as pd
import statsmodels.formula.api as smf

evals = pd.read_csv("evals.csv")
fit = smf.ols("score ~ bty_avg", data=evals).fit()
print(f"@intercept[{fit.params['Intercept']:.3f}] @slope[{fit.params['bty_avg']:.3f}] @r_squared[{fit.rsquared:.3f}]")
