import numpy as np
import pandas as pd
from statsmodels.stats.contingency_tables import StratifiedTable

ucb = pd.read_csv("ucb_admissions.csv")
cells = ucb.set_index(["Dept", "Gender", "Admit"])["Freq"]
genders, outcomes = ("Male", "Female"), ("Admitted", "Rejected")
tables = [np.array([[cells[d, g, a] for a in outcomes] for g in genders], dtype=float) for d in "ABCDEF"]


def answer(tables, correction=False):
    strata = StratifiedTable(tables)
    test = strata.test_null_odds(correction=correction)
    return f"@statistic[{test.statistic:.3f}] @p_value[{test.pvalue:.3f}] @odds_ratio[{strata.oddsratio_pooled:.3f}]"


TRAPS = {
    "with continuity correction": answer(tables, correction=True),
    "departments added up": answer([sum(tables)]),
    "odds ratio of women to men": answer([table[::-1] for table in tables]),
}
print(answer(tables))
