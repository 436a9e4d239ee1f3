import numpy as np
import pandas as pd

penguins = pd.read_csv("penguins.csv")
columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
x = penguins[columns].dropna()


def answer(z):
    variances = np.linalg.svd(z - z.mean(), compute_uv=False) ** 2
    shares = variances / variances.sum()
    needed = int(np.argmax(np.cumsum(shares) >= 0.9)) + 1
    return f"@pc1_percent[{100 * shares[0]:.1f}] @components[{needed}]"


TRAPS = {"not scaled (covariance matrix)": answer(x)}
print(answer((x - x.mean()) / x.std()))
