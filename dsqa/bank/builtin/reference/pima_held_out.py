import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

pima = pd.read_csv("pima.csv")
pima["diabetes"] = (pima["type"] == "Yes").astype(int)
first, rest = pima.iloc[:200], pima.iloc[200:]


def answer(train, test, log=np.log):
    p = smf.logit("diabetes ~ glu + bmi + ped + age", data=train).fit(disp=False).predict(test)
    y = test["diabetes"]
    loss = -log(np.where(y == 1, p, 1 - p)).mean()
    return f"@tested[{len(test)}] @accuracy[{((p > 0.5) == (y == 1)).mean():.3f}] @log_loss[{loss:.3f}]"


test = rest.dropna(subset=["bmi"])
TRAPS = {
    "tested on the rows of the fit": answer(first, first),
    "rows with a missing value in any column left out": answer(first, rest.dropna()),
    "logarithm to base 2": answer(first, test, np.log2),
}
print(answer(first, test))
