import pandas as pd
import statsmodels.formula.api as smf

mpg = pd.read_csv("mpg.csv")


def fit(reference):
    return smf.ols(f"hwy ~ displ + C(drv, Treatment('{reference}'))", data=mpg).fit().params


def level(coefficients, name):
    return sum(value for term, value in coefficients.items() if term.endswith(f"[T.{name}]"))


def answer(c):
    return f"@displ[{c['displ']:.3f}] @front[{level(c, 'f'):.3f}] @rear[{level(c, 'r'):.3f}]"


def by_reference(reference):
    # Of the two levels only one is in the model besides 4.
    other = {"f": "rear", "r": "front"}[reference]
    return f"@{other}[{level(fit(reference), {'rear': 'r', 'front': 'f'}[other]):.3f}]"


alone = smf.ols("hwy ~ C(drv)", data=mpg).fit().params
TRAPS = {
    "reference level f, not 4": by_reference("f"),
    "reference level r, not 4": by_reference("r"),
    "displ left out": f"@front[{level(alone, 'f'):.3f}] @rear[{level(alone, 'r'):.3f}]",
}
print(answer(fit("4")))
