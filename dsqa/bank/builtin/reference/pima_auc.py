import pandas as pd
import statsmodels.formula.api as smf

pima = pd.read_csv("pima.csv").dropna(subset=["bmi"])
pima["diabetes"] = (pima["type"] == "Yes").astype(int)


def answer(threshold=0.3, formula="diabetes ~ glu + bmi + age", swap=False):
    p = smf.logit(formula, data=pima).fit(disp=False).predict(pima)
    yes, no = p[pima["diabetes"] == 1].to_numpy(), p[pima["diabetes"] == 0].to_numpy()
    difference = yes[:, None] - no[None]
    auc = (difference > 0).mean() + 0.5 * (difference == 0).mean()
    rates = (yes >= threshold).mean(), (no < threshold).mean()
    sensitivity, specificity = reversed(rates) if swap else rates
    return f"@auc[{auc:.3f}] @sensitivity[{sensitivity:.3f}] @specificity[{specificity:.3f}]"


TRAPS = {
    "threshold 0.5, not 0.3": answer(0.5),
    "No taken as the positive class": answer(swap=True),
    "age left out": answer(formula="diabetes ~ glu + bmi"),
}
print(answer())
