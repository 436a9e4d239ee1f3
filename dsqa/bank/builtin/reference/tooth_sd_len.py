import pandas as pd

tooth = pd.read_csv("tooth_growth.csv")
print(f"@sd_len[{tooth['len'].std(ddof=1):.2f}]")
