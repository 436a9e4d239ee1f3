import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

tooth = pd.read_csv("tooth_growth.csv")
fit = smf.ols("len ~ C(supp) * C(dose)", data=tooth).fit()
row = anova_lm(fit).loc["C(supp):C(dose)"]
print(f"@f_interaction[{row['F']:.3f}] @p_value[{row['PR(>F)']:.3f}]")
