import pandas as pd

titanic = pd.read_csv("titanic.csv")


def answer(shares):
    return f"@first[{100 * shares['1st']:.1f}] @second[{100 * shares['2nd']:.1f}] @third[{100 * shares['3rd']:.1f}]"


def rates(rows):
    return (rows["survived"] == "yes").groupby(rows["passengerClass"]).mean()


women = titanic[titanic["sex"] == "female"]
saved = women.loc[women["survived"] == "yes", "passengerClass"]
TRAPS = {
    "share of each class among the women who survived": answer(saved.value_counts(normalize=True)),
    "men and women together": answer(rates(titanic)),
    "passengers of unknown age left out": answer(rates(women.dropna())),
}
print(answer(rates(women)))
