import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

msleep = pd.read_csv("msleep.csv").dropna(subset=["brainwt"])


def answer(log=np.log10, slope_tested=2 / 3, data=msleep):
    fit = smf.ols("y ~ x", data={"y": log(data["brainwt"]), "x": log(data["bodywt"])}).fit()
    test = fit.t_test(f"x = {slope_tested!r}")
    reject = "yes" if test.pvalue < 0.05 else "no"
    return (
        f"@intercept[{fit.params['Intercept']:.3f}] @slope[{fit.params['x']:.3f}] "
        f"@t[{test.tvalue.item():.3f}] @reject[{reject}]"
    )


TRAPS = {
    "natural logarithm, not base 10": answer(np.log),
    "slope tested against 0, not 2/3": answer(slope_tested=0.0),
    "rows with a missing value in any column left out": answer(data=msleep.dropna()),
}
print(answer())
