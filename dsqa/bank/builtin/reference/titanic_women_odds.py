import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

titanic = pd.read_csv("titanic.csv")
titanic["saved"] = (titanic["survived"] == "yes").astype(int)
fit = smf.logit("saved ~ C(sex, Treatment('male'))", data=titanic).fit(disp=False)
intercept, women = fit.params
probability = 1 / (1 + np.exp(-intercept - women))
p_men = 1 / (1 + np.exp(-intercept))


def answer(ratio):
    return f"@odds_ratio[{ratio:.2f}] @probability[{probability:.3f}]"


TRAPS = {
    "log odds ratio": answer(women),
    "reference level female: men to women": answer(np.exp(-women)),
    "ratio of probabilities, not of odds": answer(probability / p_men),
}
print(answer(np.exp(women)))
