import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

tooth = pd.read_csv("tooth_growth.csv")


def answer(dose, row):
    line = anova_lm(smf.ols(f"len ~ C(supp) * {dose}", data=tooth).fit()).loc[row]
    return f"@f_interaction[{line['F']:.3f}] @p_value[{line['PR(>F)']:.3f}]"


TRAPS = {
    "dose entered as a number": answer("dose", "C(supp):dose"),
    "main effect of supp, not the interaction": answer("C(dose)", "C(supp)"),
}
print(answer("C(dose)", "C(supp):C(dose)"))
