"""Figure 2 and Table 2: the bank's questions by category and level.

    python -m analysis.ds_qa.bank STUDY

Writes bank-composition (figure, data, caption) and bank.csv, the ids of the questions by category and level.
"""

from __future__ import annotations

import argparse

import pandas as pd

from analysis.ds_qa.common import Study, main


def run(study: Study, _options: argparse.Namespace) -> None:
    study.save("bank-composition")
    bank = study.tables.bank or ()
    table = pd.DataFrame(
        [(q.category, q.level or "no level", q.id) for q in bank], columns=["category", "level", "id"]
    )
    ids = table.pivot_table(index="category", columns="level", values="id", aggfunc=", ".join, fill_value="")
    order = [level for level in ("easy", "medium", "hard") if level in ids.columns]
    ids = ids[[*order, *(level for level in ids.columns if level not in order)]]
    study.write("bank", ids.assign(total=table.groupby("category").size()).reset_index())


if __name__ == "__main__":
    main(run, __doc__)
