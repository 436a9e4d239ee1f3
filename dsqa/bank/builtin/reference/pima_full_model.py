import pandas as pd
import statsmodels.formula.api as smf

pima = pd.read_csv("pima.csv")
pima["diabetes"] = (pima["type"] == "Yes").astype(int)
predictors = ["npreg", "glu", "bp", "skin", "bmi", "ped", "age"]


def answer(data, criterion="aic", level=0.05):
    fit = smf.logit("diabetes ~ " + " + ".join(predictors), data=data).fit(disp=False)
    slopes = fit.pvalues[predictors]
    largest = fit.tvalues[predictors].abs().idxmax()
    return f"@significant[{(slopes < level).sum()}] @largest_z[{largest}] @aic[{getattr(fit, criterion):.2f}]"


TRAPS = {
    "BIC, not AIC": answer(pima.dropna(), "bic"),
    "missing values replaced by the column's mean": answer(pima.fillna(pima[predictors].mean())),
    "10 % level, not 5 %": answer(pima.dropna(), level=0.1),
}
print(answer(pima.dropna()))
