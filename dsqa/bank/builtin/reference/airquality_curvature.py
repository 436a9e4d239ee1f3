import pandas as pd
import statsmodels.formula.api as smf

air = pd.read_csv("airquality.csv")


def answer(data, adjusted=False, root=False):
    line = smf.ols("Ozone ~ Temp", data=data).fit()
    curve = smf.ols("Ozone ~ Temp + I(Temp**2)", data=data).fit()
    f, p, _ = curve.compare_f_test(line)
    r2 = [fit.rsquared_adj if adjusted else fit.rsquared for fit in (line, curve)]
    f = f**0.5 if root else f
    return f"@f[{f:.2f}] @r2_line[{r2[0]:.3f}] @r2_curve[{r2[1]:.3f}] @needed[{'yes' if p < 0.05 else 'no'}]"


TRAPS = {
    "adjusted R squared": answer(air, adjusted=True),
    "days with a missing value in any column left out": answer(air.dropna()),
    "t statistic, not F": answer(air, root=True),
}
print(answer(air))
