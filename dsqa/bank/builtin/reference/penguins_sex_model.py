import pandas as pd
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression

columns = ["body_mass_g", "bill_depth_mm"]
penguins = pd.read_csv("penguins.csv").dropna(subset=["sex", *columns])
gentoo = penguins[penguins["species"] == "Gentoo"]
male = (gentoo["sex"] == "male").astype(int)


def scaled(ddof=1, over=gentoo):
    return (gentoo[columns] - over[columns].mean()) / over[columns].std(ddof=ddof)


def answer(x, penalty=False):
    if penalty:
        model = LogisticRegression().fit(x, male)
        (mass, depth), wrong = model.coef_[0], (model.predict(x) != male).sum()
    else:
        fit = sm.Logit(male, sm.add_constant(x)).fit(disp=False)
        _, mass, depth = fit.params
        wrong = ((fit.predict() > 0.5) != male).sum()
    return f"@mass[{mass:.2f}] @depth[{depth:.2f}] @errors[{wrong}]"


TRAPS = {
    "scikit-learn's default penalty": answer(scaled(), penalty=True),
    "scaled with divisor n (ddof=0), not n - 1": answer(scaled(ddof=0)),
    "scaled over all species": answer(scaled(over=penguins)),
    "not scaled": answer(gentoo[columns]),
}
print(answer(scaled()))
