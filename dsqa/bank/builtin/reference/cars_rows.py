import pandas as pd

cars = pd.read_csv("cars.csv")
print(f"@rows[{len(cars)}]")
