import pandas as pd

cars = pd.read_csv("cars.csv")
print(f"@min_speed[{cars['speed'].min()}]")
