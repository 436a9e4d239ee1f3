import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

score = pd.read_csv("evals.csv")["score"]
counts, edges, _ = plt.hist(score, bins=np.arange(2, 5.5, 0.5), edgecolor="white")
plt.xlabel("Mean mark of the course")
plt.ylabel("Courses")
plt.savefig("histogram.png")
skew = "left" if score.skew() < 0 else "right"


def answer(counts, edges):
    tallest = counts.argmax()
    return f"@bin_start[{edges[tallest]:.1f}] @bin_count[{counts[tallest]:.0f}] @skew[{skew}]"


right_closed = pd.cut(score, edges).value_counts(sort=False).to_numpy()
TRAPS = {
    "bins closed on the right, not on the left (hist in R)": answer(right_closed, edges),
    "skew named after the side of the peak": f"@skew[{'right' if skew == 'left' else 'left'}]",
}
print(answer(counts, edges))
