import pandas as pd

mpg = pd.read_csv("mpg.csv")
rows = mpg["manufacturer"].value_counts()
print(f"@manufacturers[{len(rows)}] @most_rows[{rows.idxmax()}]")
