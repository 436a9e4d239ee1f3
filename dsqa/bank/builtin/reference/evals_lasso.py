import pandas as pd
from sklearn.linear_model import Lasso

evals = pd.read_csv("evals.csv")
x = evals[["bty_avg", "age", "cls_perc_eval", "cls_students", "cls_did_eval"]]


def answer(z, penalty=0.03):
    fit = Lasso(alpha=penalty, tol=1e-12, max_iter=100_000).fit(z, evals["score"])
    slope = pd.Series(fit.coef_, x.columns)
    largest = slope.abs().idxmax()
    return f"@nonzero[{(slope.abs() > 1e-9).sum()}] @largest[{largest}] @slope[{slope[largest]:.4f}]"


scaled = (x - x.mean()) / x.std(ddof=0)
TRAPS = {
    "not scaled": answer(x),
    "squared residuals over n, not 2 n": answer(scaled, penalty=0.015),
    "ordinary least squares": answer(scaled, penalty=1e-12),
}
print(answer(scaled))
