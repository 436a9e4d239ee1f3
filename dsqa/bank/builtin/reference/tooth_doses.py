import pandas as pd

tooth = pd.read_csv("tooth_growth.csv")
print(f"@doses[{tooth['dose'].nunique()}]")
