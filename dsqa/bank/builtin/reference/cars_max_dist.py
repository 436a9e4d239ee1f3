import pandas as pd

cars = pd.read_csv("cars.csv")
print(f"@max_dist[{cars['dist'].max()}]")
