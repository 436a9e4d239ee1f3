import pandas as pd

cars = pd.read_csv("cars.csv")
r = cars["speed"].corr(cars["dist"])
print(f"@correlation[{r:.3f}]")
