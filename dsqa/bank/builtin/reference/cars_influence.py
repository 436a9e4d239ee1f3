import pandas as pd
import statsmodels.formula.api as smf

cars = pd.read_csv("cars.csv")
fit = smf.ols("dist ~ speed", data=cars).fit()
influence = fit.get_influence()
distance = pd.Series(influence.cooks_distance[0])
leverage = pd.Series(influence.hat_matrix_diag)


def answer(row, first=1):
    without = smf.ols("dist ~ speed", data=cars.drop(index=row)).fit()
    return f"@row[{row + first}] @cook[{distance[row]:.3f}] @slope_without[{without.params['speed']:.3f}]"


TRAPS = {
    "rows counted from 0": answer(distance.idxmax(), first=0),
    "largest leverage, not Cook's distance": answer(leverage.idxmax()),
}
print(answer(distance.idxmax()))
