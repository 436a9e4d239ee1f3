import numpy as np
import pandas as pd

penguins = pd.read_csv("penguins.csv")
columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
x = penguins[columns].dropna()
z = (x - x.mean()) / x.std()
variances = np.linalg.svd(z, compute_uv=False) ** 2
shares = variances / variances.sum()
needed = int(np.argmax(np.cumsum(shares) >= 0.9)) + 1
print(f"@pc1_percent[{100 * shares[0]:.1f}] @components[{needed}]")
