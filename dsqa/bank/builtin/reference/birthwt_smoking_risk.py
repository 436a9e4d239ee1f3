import pandas as pd
import statsmodels.formula.api as smf

births = pd.read_csv("birthwt.csv")
mothers = pd.DataFrame({"smoke": [1, 0], "lwt": [130, 130]})


def answer(smoker, non_smoker):
    return f"@smoker[{smoker:.3f}] @non_smoker[{non_smoker:.3f}]"


fit = smf.logit("low ~ smoke + lwt", data=births).fit(disp=False)
line = smf.ols("low ~ smoke + lwt", data=births).fit()
TRAPS = {
    "linear probability model, not logistic": answer(*line.predict(mothers)),
    "lwt left out": answer(*smf.logit("low ~ smoke", data=births).fit(disp=False).predict(mothers)),
    "log odds, not probabilities": answer(*fit.predict(mothers, which="linear")),
}
print(answer(*fit.predict(mothers)))
