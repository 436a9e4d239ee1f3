import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

homes = pd.read_csv("duke_forest.csv")
homes["log_price"] = np.log(homes["price"])
homes["log_area"] = np.log(homes["area"])
fit = smf.ols("log_price ~ log_area", data=homes).fit()
low, high = fit.conf_int(alpha=0.05).loc["log_area"]
print(f"@slope[{fit.params['log_area']:.3f}] @lower[{low:.3f}] @upper[{high:.3f}]")
