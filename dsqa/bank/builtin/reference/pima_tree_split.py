import numpy as np
import pandas as pd

pima = pd.read_csv("pima.csv")
glu, yes = pima["glu"].to_numpy(), (pima["type"] == "Yes").to_numpy()


def gini(p):
    return 2 * p * (1 - p)


def entropy(p):
    return -sum(share * np.log2(share) for share in (p, 1 - p) if share > 0)


def answer(measure=gini, weigh=True):
    values = np.unique(glu)
    cuts = (values[:-1] + values[1:]) / 2

    def impurity(cut):
        left = glu <= cut
        share = left.mean() if weigh else 0.5
        return share * measure(yes[left].mean()) + (1 - share) * measure(yes[~left].mean())

    best = min(cuts, key=impurity)
    return f"@threshold[{best:.1f}] @impurity[{impurity(best):.4f}]"


TRAPS = {
    "entropy (base 2), not Gini": answer(entropy),
    "leaves not weighted by their sizes": answer(weigh=False),
    "Gini halved: share of Yes times share of No": answer(lambda p: p * (1 - p)),
}
print(answer())
