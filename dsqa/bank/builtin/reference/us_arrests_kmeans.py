import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

x = pd.read_csv("us_arrests.csv").drop(columns="State")


def answer(z, k=4):
    fit = KMeans(k, n_init=100, random_state=0).fit(z)
    largest = pd.Series(fit.labels_).value_counts().max()
    width = silhouette_score(z, fit.labels_)
    return f"@within_ss[{fit.inertia_:.1f}] @largest_size[{largest}] @silhouette[{width:.3f}]"


centred = x - x.mean()
TRAPS = {
    "not scaled": answer(x),
    "scaled with divisor n (ddof=0), not n - 1": answer(centred / x.std(ddof=0)),
    "three clusters, not four": answer(centred / x.std(), 3),
}
print(answer(centred / x.std()))
