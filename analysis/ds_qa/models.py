"""Figure 7: token use and text similarity of one question by model.

    python -m analysis.ds_qa.models STUDY [--question 56 --temperature 1]

Writes question-by-model (figure, data, caption) and models.csv, a row per model.
"""

from __future__ import annotations

import argparse

import pandas as pd

from analysis.ds_qa.common import Study, arguments, main, part


def describe(outcomes: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return tokens and similarity with the first run, that run left out, per value of a column."""
    table = outcomes.assign(similarity=outcomes["jaccard_first"].where(outcomes["run"] > 0))
    return (
        table.groupby(by, dropna=False)
        .agg(
            runs=("run", "size"),
            tokens_mean=("tokens_total", "mean"),
            tokens_min=("tokens_total", "min"),
            tokens_max=("tokens_total", "max"),
            jaccard_mean=("similarity", "mean"),
            jaccard_sd=("similarity", "std"),
        )
        .reset_index()
    )


def one_question(chosen: Study, question: str, by: str, figure: str, table: str) -> None:
    """Write the figure of one question and its table, a row per value of `by`; where it is absent, of all."""
    outcomes = chosen.outcomes
    own = outcomes[outcomes["question_id"].astype(str).eq(question)]
    if own.empty:
        print(f"There is no question {question}: the figure takes the one that varies most, the table all.")
        chosen.save(figure)
    else:
        outcomes = own
        chosen.save(figure, question=question)
    chosen.write(table, describe(outcomes, by))


def run(study: Study, options: argparse.Namespace) -> None:
    chosen = part(study, temperature=options.temperature)
    one_question(chosen, options.question, "model", "question-by-model", "models")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--question", default="56")
    parser.add_argument("--temperature", type=float, default=1.0)
    main(run, __doc__, parser)
