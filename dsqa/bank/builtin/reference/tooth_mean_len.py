import pandas as pd

tooth = pd.read_csv("tooth_growth.csv")
print(f"@mean_len[{tooth['len'].mean():.2f}]")
