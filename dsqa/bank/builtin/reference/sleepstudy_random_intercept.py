import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

sleep = pd.read_csv("sleepstudy.csv")


def answer(reml=True, square=False):
    # Balanced data: the REML estimates have a closed form; statsmodels starts there and is checked against it.
    fit = smf.mixedlm("Reaction ~ Days", data=sleep, groups="Subject").fit(reml=reml, method="lbfgs", tol=1e-12)
    variances = np.array([fit.cov_re.iloc[0, 0], fit.scale])
    subject, residual = variances if square else np.sqrt(variances)
    return f"@slope[{fit.params['Days']:.2f}] @sd_subject[{subject:.2f}] @sd_residual[{residual:.2f}]"


line = smf.ols("Reaction ~ Days", data=sleep).fit()
TRAPS = {
    "maximum likelihood, not REML": answer(reml=False),
    "variances, not standard deviations": answer(square=True),
    "no random intercept": f"@slope[{line.params['Days']:.2f}] @sd_residual[{np.sqrt(line.scale):.2f}]",
}
print(answer())
