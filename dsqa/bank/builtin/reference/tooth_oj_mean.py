import pandas as pd

tooth = pd.read_csv("tooth_growth.csv")


def answer(rows):
    return f"@mean_oj[{rows['len'].mean():.2f}]"


TRAPS = {
    "all rows, not only OJ": answer(tooth),
    "the rows of VC": answer(tooth[tooth["supp"] == "VC"]),
}
print(answer(tooth[tooth["supp"] == "OJ"]))
