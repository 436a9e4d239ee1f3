import pandas as pd
import statsmodels.formula.api as smf

penguins = pd.read_csv("penguins.csv")
fit = smf.ols("body_mass_g ~ flipper_length_mm + C(sex, Treatment('female'))", data=penguins).fit()
flipper, male = fit.params.iloc[[2, 1]]


def answer(flipper, male, n):
    return f"@flipper[{flipper:.2f}] @male[{male:.2f}] @n[{n:.0f}]"


alone = smf.ols("body_mass_g ~ flipper_length_mm", data=penguins).fit()
TRAPS = {
    "reference level male, not female": answer(flipper, -male, fit.nobs),
    "sex left out": f"@flipper[{alone.params['flipper_length_mm']:.2f}] @n[{alone.nobs:.0f}]",
    "all rows counted": answer(flipper, male, len(penguins)),
}
print(answer(flipper, male, fit.nobs))
