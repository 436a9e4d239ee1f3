import numpy as np
import pandas as pd

x = pd.read_csv("us_arrests.csv").drop(columns="State")


def answer(z):
    _, singular, loadings = np.linalg.svd(z - z.mean(), full_matrices=False)
    shares = 100 * singular**2 / (singular**2).sum()
    second = x.columns[np.abs(loadings[1]).argmax()]
    return f"@pc1_percent[{shares[0]:.1f}] @two_percent[{shares[0] + shares[1]:.1f}] @second[{second}]"


TRAPS = {"not scaled (covariance matrix)": answer(x)}
print(answer((x - x.mean()) / x.std()))
