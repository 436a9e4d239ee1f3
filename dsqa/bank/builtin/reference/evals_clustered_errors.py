import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

evals = pd.read_csv("evals.csv")
model = smf.ols("score ~ bty_avg", data=evals)
usual = model.fit().bse["bty_avg"]


def answer(clustered):
    return f"@usual[{usual:.4f}] @clustered[{clustered:.4f}] @factor[{clustered / usual:.2f}]"


def clustered(correction=True):
    groups = {"groups": evals["prof_id"], "use_correction": correction, "df_correction": False}
    return model.fit(cov_type="cluster", cov_kwds=groups).bse["bty_avg"]


g, n = evals["prof_id"].nunique(), len(evals)
TRAPS = {
    "no correction for few clusters": answer(clustered(correction=False)),
    "factor G/(G - 1) alone": answer(clustered(correction=False) * np.sqrt(g / (g - 1))),
    "robust to unequal variances only, not to clustering (HC1)": answer(model.fit(cov_type="HC1").bse["bty_avg"]),
}
print(answer(clustered()))
