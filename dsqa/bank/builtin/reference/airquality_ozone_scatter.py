import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

air = pd.read_csv("airquality.csv")
drawn = air.dropna(subset=["Ozone"])
for month, rows in drawn.groupby("Month"):
    plt.scatter(rows["Temp"], rows["Ozone"], label=month)
plt.legend(title="Month")
plt.xlabel("Temperature (°F)")
plt.ylabel("Ozone (parts per billion)")
plt.savefig("scatter.png")


def answer(rows):
    return f"@points[{len(rows)}] @high_on_cool_days[{((rows['Ozone'] > 100) & (rows['Temp'] < 80)).sum()}]"


TRAPS = {
    "days with a missing value in any column left out": answer(air.dropna()),
    "days with missing Ozone counted as points": answer(air),
}
print(answer(drawn))
