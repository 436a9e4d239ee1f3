import pandas as pd
import statsmodels.formula.api as smf

births = pd.read_csv("birthwt.csv")


def answer(race, base="bwt ~ lwt + smoke + ht + ui"):
    smaller = smf.ols(base, data=births).fit()
    larger = smf.ols(f"{base} + {race}", data=births).fit()
    f, p, _ = larger.compare_f_test(smaller)
    return f"@smoke[{larger.params['smoke']:.1f}] @f[{f:.3f}] @p_value[{p:.4f}]"


TRAPS = {
    "race entered as a number": answer("race"),
    "race tested alone, the other predictors left out": answer("C(race)", "bwt ~ smoke"),
}
print(answer("C(race)"))
