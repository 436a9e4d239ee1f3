import numpy as np
import pandas as pd

penguins = pd.read_csv("penguins.csv").dropna(subset=["flipper_length_mm"])
flipper = penguins["flipper_length_mm"]
means = flipper.groupby(penguins["species"]).transform("mean")
within = ((flipper - means) ** 2).sum()
total = ((flipper - flipper.mean()) ** 2).sum()


def answer(divisor):
    return f"@pooled_sd[{np.sqrt(within / divisor):.2f}] @eta_squared[{1 - within / total:.3f}]"


sds = flipper.groupby(penguins["species"]).std()
TRAPS = {
    "divisor n, not n - 3": answer(len(flipper)),
    "mean of the three standard deviations, not pooled": f"@pooled_sd[{sds.mean():.2f}]",
    "square root of eta squared": f"@eta_squared[{np.sqrt(1 - within / total):.3f}]",
}
print(answer(len(flipper) - 3))
