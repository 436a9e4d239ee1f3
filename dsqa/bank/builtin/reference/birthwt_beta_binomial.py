import numpy as np
import pandas as pd
from scipy import integrate, stats

births = pd.read_csv("birthwt.csv")
low, n = births.groupby("smoke")["low"].sum(), births.groupby("smoke")["low"].size()


def answer(prior=1.0):
    others, smokers = (stats.beta(prior + low[s], prior + n[s] - low[s]) for s in (0, 1))
    higher, _ = integrate.quad(lambda p: smokers.pdf(p) * others.cdf(p), 0, 1, epsabs=1e-10, limit=200)
    a, b = smokers.ppf([0.025, 0.975])
    return f"@mean[{smokers.mean():.3f}] @lower[{a:.3f}] @upper[{b:.3f}] @higher[{higher:.3f}]"


def wald():
    p = low[1] / n[1]
    half = 1.959964 * np.sqrt(p * (1 - p) / n[1])
    return f"@mean[{p:.3f}] @lower[{p - half:.3f}] @upper[{p + half:.3f}]"


TRAPS = {"Jeffreys' prior, Beta(1/2, 1/2)": answer(0.5), "no prior: sample share and Wald interval": wald()}
print(answer())
