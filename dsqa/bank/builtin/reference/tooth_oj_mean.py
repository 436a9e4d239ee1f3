import pandas as pd

tooth = pd.read_csv("tooth_growth.csv")
oj = tooth.loc[tooth["supp"] == "OJ", "len"]
print(f"@mean_oj[{oj.mean():.2f}]")
