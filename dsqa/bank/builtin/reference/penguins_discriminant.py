import numpy as np
import pandas as pd

columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
penguins = pd.read_csv("penguins.csv").dropna(subset=columns)
names, y = np.unique(penguins["species"], return_inverse=True)


def predict(x, y, new, equal=False):
    means = np.array([x[y == k].mean(axis=0) for k in range(3)])
    residual = x - means[y]
    inverse = np.linalg.inv(residual.T @ residual / (len(x) - 3))
    prior = np.full(3, 1 / 3) if equal else np.bincount(y) / len(y)
    scores = new @ inverse @ means.T - 0.5 * np.einsum("kp,pq,kq->k", means, inverse, means) + np.log(prior)
    return scores.argmax(axis=1)


def wrong(columns, equal=False):
    x = penguins[columns].to_numpy()
    return (predict(x, y, x, equal) != y).sum()


def left_out(columns):
    x = penguins[columns].to_numpy()
    keep = ~np.eye(len(x), dtype=bool)
    return sum(predict(x[keep[i]], y[keep[i]], x[i : i + 1])[0] != y[i] for i in range(len(x)))


def answer(errors, out, bill):
    return f"@errors[{errors}] @errors_left_out[{out}] @errors_bill[{bill}]"


TRAPS = {"equal prior probabilities": f"@errors[{wrong(columns, True)}] @errors_bill[{wrong(columns[:2], True)}]"}
print(answer(wrong(columns), left_out(columns), wrong(columns[:2])))
