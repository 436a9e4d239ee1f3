import numpy as np
import pandas as pd

score = pd.read_csv("evals.csv")["score"]
errors = score - score.mean()


def answer(value):
    return f"@rmse[{value:.3f}]"


TRAPS = {
    "divisor n - 1 (ddof=1), not n": answer(score.std()),
    "mean absolute error": answer(errors.abs().mean()),
    "mean squared error, no root": answer((errors**2).mean()),
}
print(answer(np.sqrt((errors**2).mean())))
