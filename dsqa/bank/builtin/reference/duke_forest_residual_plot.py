import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

homes = pd.read_csv("duke_forest.csv")
slope, intercept = np.polyfit(homes["area"], homes["price"], 1)
fitted = intercept + slope * homes["area"]
residual = homes["price"] - fitted
n = len(homes)
error = np.sqrt((residual**2).sum() / (n - 2))
plt.figure(figsize=(7.5, 4.8))
plt.scatter(fitted, residual)
for level in (-2 * error, 0, 2 * error):
    plt.axhline(level, color="grey", linestyle="solid" if level == 0 else "dashed")
plt.xlabel("Fitted price (dollars)")
plt.ylabel("Residual (dollars)")
plt.tight_layout()
plt.savefig("residuals.png")
small = fitted <= fitted.median()
ratio = residual[~small].std() / residual[small].std()
spread = "growing" if ratio > 1.25 else "shrinking" if ratio < 0.8 else "constant"


def answer(reach, price):
    return f"@outside[{(residual.abs() > reach).sum()}] @price[{price}] @spread[{spread}]"


TRAPS = {
    "one residual standard error, not two": answer(error, homes["price"][residual.abs().idxmax()]),
    "the residual itself, not the price": answer(2 * error, f"{residual[residual.abs().idxmax()]:.0f}"),
}
print(answer(2 * error, homes["price"][residual.abs().idxmax()]))
