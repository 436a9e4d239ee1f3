import pandas as pd
import statsmodels.formula.api as smf

pima = pd.read_csv("pima.csv").dropna(subset=["bmi"])
pima["diabetes"] = (pima["type"] == "Yes").astype(int)


def answer(data, formula="diabetes ~ glu + bmi", flip=False):
    said = smf.logit(formula, data=data).fit(disp=False).predict(data) > 0.5
    true = data["diabetes"] == 1
    if flip:
        said, true = ~said, ~true
    tp, fp, fn, tn = (said & true).sum(), (said & ~true).sum(), (~said & true).sum(), (~said & ~true).sum()
    return f"@tp[{tp}] @fp[{fp}] @fn[{fn}] @tn[{tn}] @accuracy[{(said == true).mean():.3f}]"


TRAPS = {
    "No taken as the positive class": answer(pima, flip=True),
    "rows with a missing value in any column left out": answer(pima.dropna()),
    "bmi left out": answer(pima, "diabetes ~ glu"),
}
print(answer(pima))
