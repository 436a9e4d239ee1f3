import pandas as pd

tooth = pd.read_csv("tooth_growth.csv")


def answer(value):
    return f"@sd_len[{value:.2f}]"


TRAPS = {
    "divisor n (ddof=0), not n - 1": answer(tooth["len"].std(ddof=0)),
    "variance, not standard deviation": answer(tooth["len"].var(ddof=1)),
}
print(answer(tooth["len"].std(ddof=1)))
