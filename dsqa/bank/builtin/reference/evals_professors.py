import pandas as pd

evals = pd.read_csv("evals.csv")


def answer(count):
    return f"@professors[{count}]"


TRAPS = {"courses, not professors": answer(len(evals))}
print(answer(evals["prof_id"].nunique()))
