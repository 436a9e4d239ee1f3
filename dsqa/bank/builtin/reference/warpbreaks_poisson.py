import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

looms = pd.read_csv("warpbreaks.csv")


def answer(term="C(tension, Treatment('L'))[T.H]", ratio=np.exp, reference="L", kind="pearson_chi2"):
    formula = f"breaks ~ C(wool) + C(tension, Treatment('{reference}'))"
    fit = smf.glm(formula, data=looms, family=sm.families.Poisson()).fit()
    return f"@rate_ratio[{ratio(fit.params[term]):.3f}] @dispersion[{getattr(fit, kind) / fit.df_resid:.2f}]"


TRAPS = {
    "log rate ratio": answer(ratio=float),
    "reference level H: L to H": answer("C(tension, Treatment('H'))[T.L]", reference="H"),
    "residual deviance, not Pearson's statistic": answer(kind="deviance"),
}
print(answer())
