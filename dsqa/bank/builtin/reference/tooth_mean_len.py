import pandas as pd

tooth = pd.read_csv("tooth_growth.csv")


def answer(value):
    return f"@mean_len[{value:.2f}]"


TRAPS = {"median, not mean": answer(tooth["len"].median())}
print(answer(tooth["len"].mean()))
