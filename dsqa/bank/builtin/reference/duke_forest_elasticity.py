import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

homes = pd.read_csv("duke_forest.csv")
homes["log_price"] = np.log(homes["price"])
homes["log_area"] = np.log(homes["area"])
model = smf.ols("log_price ~ log_area", data=homes)


def answer(fit):
    low, high = fit.conf_int(alpha=0.05).iloc[1]
    return f"@slope[{fit.params.iloc[1]:.3f}] @lower[{low:.3f}] @upper[{high:.3f}]"


TRAPS = {
    "normal quantile, not t": answer(model.fit(use_t=False)),
    "robust standard error (HC3)": answer(model.fit(cov_type="HC3", use_t=True)),
}
print(answer(model.fit()))
