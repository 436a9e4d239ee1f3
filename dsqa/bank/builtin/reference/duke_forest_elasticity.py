import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

homes = pd.read_csv("duke_forest.csv")
fit = smf.ols("np.log(price) ~ np.log(area)", data=homes).fit()
low, high = fit.conf_int().loc["np.log(area)"]
print(f"@slope[{fit.params['np.log(area)']:.3f}] @lower[{low:.3f}] @upper[{high:.3f}]")
