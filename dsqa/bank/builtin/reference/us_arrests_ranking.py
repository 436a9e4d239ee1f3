import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

arrests = pd.read_csv("us_arrests.csv")
ranked = arrests.sort_values("Murder", ascending=False)
top = ranked.head(10)
plt.figure(figsize=(7, 4.5))
plt.barh(top["State"], top["Murder"])
plt.gca().invert_yaxis()
plt.xlabel("Arrests for murder per 100,000 inhabitants")
plt.tight_layout()
plt.savefig("ranking.png")


def answer(bottom):
    return f"@top_state[{top['State'].iloc[0]}] @bottom_value[{bottom:.1f}]"


TRAPS = {"the state after the tenth": answer(ranked["Murder"].iloc[10])}
print(answer(top["Murder"].iloc[9]))
