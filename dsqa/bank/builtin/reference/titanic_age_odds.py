import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

titanic = pd.read_csv("titanic.csv").dropna(subset=["age"])
titanic["saved"] = (titanic["survived"] == "yes").astype(int)


def answer(years=10, terms="age + C(sex, Treatment('male')) + C(passengerClass)", ratio=np.exp):
    fit = smf.logit(f"saved ~ {terms}", data=titanic).fit(disp=False)
    low, high = fit.conf_int().loc["age"]
    slope, third = fit.params["age"], fit.params["C(passengerClass)[T.3rd]"]
    ten, low, high = ratio(years * slope), ratio(years * low), ratio(years * high)
    return f"@ten_years[{ten:.3f}] @lower[{low:.3f}] @upper[{high:.3f}] @third_class[{ratio(third):.3f}]"


TRAPS = {
    "one year, not ten": answer(years=1),
    "log odds ratios": answer(ratio=float),
    "sex left out": answer(terms="age + C(passengerClass)"),
}
print(answer())
