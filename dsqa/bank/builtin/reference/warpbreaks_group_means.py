import pandas as pd

looms = pd.read_csv("warpbreaks.csv")
means = looms.groupby("tension")["breaks"].mean()


def answer(low, medium, high):
    return f"@low[{low:.2f}] @medium[{medium:.2f}] @high[{high:.2f}]"


TRAPS = {
    "coefficients with L as the reference level, not fitted values": answer(
        means["L"], means["M"] - means["L"], means["H"] - means["L"]
    ),
    "tensions in alphabetical order (H, L, M)": answer(*means),
}
print(answer(means["L"], means["M"], means["H"]))
