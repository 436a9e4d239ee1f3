"""How much the answers of a cell agree: majority, entropy, Gini–Simpson, total agreement.

Of N answers with shares p₁ … p_d of their d distinct values:

===============  =======================================================================================
majority share   max pᵢ
entropy          −Σ pᵢ log₂ pᵢ, the plug-in estimate in bits; too low by about (d − 1)/(2 N ln 2)
                 (Miller 1955), since answers not yet seen are not counted
Gini–Simpson     1 − Σ pᵢ²: two runs drawn *with* replacement differ. Simpson (1949), Nature 163:688;
                 N/(N − 1) times it is unbiased for two future runs
total agreement  TARa@N: 1 if all N are equal, else 0. Atil et al. (2024), arXiv:2408.04667
===============  =======================================================================================

Intervals: `dsqa.stats.answer_intervals`. Total agreement is a yes or a no about these N runs and has none; the
chance that k future runs agree is estimated there.

A run without a readable answer (failed, refused, unparsed) has the answer "(unparsed)": such runs stay in
every denominator, and a cell in which nothing is ever readable agrees with itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError

__all__ = ["UNPARSED", "AnswerSummary", "answer_summaries", "answer_summary"]

UNPARSED = "(unparsed)"


@dataclass(frozen=True)
class AnswerSummary:
    """Agreement among the answers of one cell; see the table at the top of the module."""

    runs: int
    modal_answer: str
    modal_share: float
    distinct_answers: int
    total_agreement: float
    entropy: float
    gini_simpson: float


def answer_summary(keys: Sequence[str | None]) -> AnswerSummary:
    """Summarise the answer keys of one cell; None, NaN and pd.NA are runs without a readable answer.

    Raises
    ------
    StatisticsError
        No runs.

    Examples
    --------
    >>> s = answer_summary(["x=1", "x=1", "x=2", None])
    >>> s.modal_answer, s.modal_share, s.distinct_answers, s.entropy
    ('x=1', 0.5, 3, 1.5)
    """
    if len(keys) == 0:
        raise StatisticsError("no answers: nothing to summarise")
    series = pd.Series(list(keys), dtype="string")
    row = answer_summaries(series, pd.Series(np.zeros(len(series), dtype=np.int64))).iloc[0]
    return AnswerSummary(
        runs=len(series),
        modal_answer=str(row["modal_answer"]),
        modal_share=float(row["modal_share"]),
        distinct_answers=int(row["distinct_answers"]),
        total_agreement=float(row["total_agreement_rate"]),
        entropy=float(row["answer_entropy"]),
        gini_simpson=float(row["gini_simpson"]),
    )


def answer_summaries(keys: pd.Series, cell: pd.Series) -> pd.DataFrame:
    """Summarise the answers of many cells.

    Parameters
    ----------
    keys
        Answer keys, missing where none was read.
    cell
        The cell of each run, same length and index.

    Returns
    -------
    pandas.DataFrame
        Indexed by cell: modal_answer, modal_share, distinct_answers, total_agreement_rate (NaN for
        single runs: one answer agrees with nothing), answer_entropy, gini_simpson.
    """
    counts = (
        pd.DataFrame({"cell": cell.to_numpy(), "key": keys.astype("string").fillna(UNPARSED).to_numpy(dtype=object)})
        .groupby(["cell", "key"], sort=True)
        .size()
        .rename("count")
        .reset_index()
    )
    # A stable sort keeps equally frequent answers in the order of their names.
    modal = counts.sort_values("count", ascending=False, kind="stable").groupby("cell", sort=True).first()
    total = counts.groupby("cell", sort=True)["count"].transform("sum")
    share = counts["count"] / total
    parts = pd.DataFrame({"cell": counts["cell"], "square": share**2, "surprise": -share * np.log2(share)})
    sums = parts.groupby("cell", sort=True).sum()
    runs = counts.groupby("cell", sort=True)["count"].sum()
    distinct = counts.groupby("cell", sort=True).size()
    return pd.DataFrame(
        {
            "modal_answer": modal["key"],
            "modal_share": modal["count"] / runs,
            "distinct_answers": distinct,
            "total_agreement_rate": (distinct == 1).astype(float).where(runs > 1),
            "answer_entropy": sums["surprise"].where(distinct > 1, 0.0),
            "gini_simpson": (1 - sums["square"]).where(distinct > 1, 0.0),
        }
    )
