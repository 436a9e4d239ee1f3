import pandas as pd

cars = pd.read_csv("cars.csv")
print(f"@mean_dist[{cars['dist'].mean():.2f}]")
