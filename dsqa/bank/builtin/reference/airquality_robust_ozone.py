import pandas as pd
from scipy import stats

ozone = pd.read_csv("airquality.csv")["Ozone"].dropna()


def answer(cut=0.1, scale=1.4826, unbiased=False):
    mad = scale * (ozone - ozone.median()).abs().median()
    skewness = stats.skew(ozone, bias=not unbiased)
    return f"@trimmed_mean[{stats.trim_mean(ozone, cut):.2f}] @mad[{mad:.2f}] @skewness[{skewness:.2f}]"


TRAPS = {
    "10 % cut in all, 5 % at each end": answer(cut=0.05),
    "median absolute deviation without the factor 1.4826": answer(scale=1),
    "skewness adjusted for the sample size (pandas, Excel)": answer(unbiased=True),
}
print(answer())
