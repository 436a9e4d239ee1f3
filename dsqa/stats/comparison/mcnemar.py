"""McNemar's test of whether, of the pairs that disagree, as many favour one model as the other.

Of pairs in which exactly one model is right, n₁₀ favour the first and n₀₁ the second; if neither is better,
n₁₀ ~ Binomial(n₁₀ + n₀₁, ½). McNemar (1947), Psychometrika 12:153. "exact" is the two-sided binomial test and
never above its level; "mid-p" counts the observed table half and is closer to it (Fagerland, Lydersen & Laake
2013, BMC Med. Res. Methodol. 13:91).

What a pair is decides the question that is answered:

===========  ==========================================================================================
majority     a question, each model right if more than half of its runs are: *is the majority answer of
             one right on more questions?* Pairs are independent questions; generalises to others
first run    a question, each model's lowest-numbered run: *is someone who asks once right more often?*
             Generalises too, and throws away all runs but one
runs         run i of one model and run i of the other: *on these very questions, is a run of one right
             more often?* Which run is paired with which is arbitrary, and runs of one question are alike,
             so p says nothing about other questions; it is far too small if read so
===========  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require_runs
from dsqa.stats.comparison.layout import held_equal, labels_of
from dsqa.stats.interval import Interval
from dsqa.stats.proportions import clopper_pearson

__all__ = ["McNemar", "PairKind", "mcnemar", "mcnemar_test"]

PairKind = Literal["majority", "first run", "runs"]


@dataclass(frozen=True)
class McNemar:
    """A table of pairs and its test.

    Parameters
    ----------
    both, first_only, second_only, neither
        Pairs in which both are right, only the first, only the second, neither.
    exact_p, mid_p
        Two-sided.
    odds_ratio
        n₁₀/n₀₁, the odds that a pair that disagrees favours the first; infinite where n₀₁ = 0.
    interval
        Its exact (Clopper–Pearson) interval; not available without pairs that disagree.
    pairs
        What a pair is.
    """

    both: int
    first_only: int
    second_only: int
    neither: int
    exact_p: float
    mid_p: float
    odds_ratio: float
    interval: Interval
    pairs: str = ""

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def difference(self) -> float:
        """Share of pairs in which the first is right minus the same for the second."""
        return (self.first_only - self.second_only) / self.n


def mcnemar(
    both: int, first_only: int, second_only: int, neither: int, *, level: float = 0.95, pairs: str = ""
) -> McNemar:
    """Test a table of pairs.

    Raises
    ------
    StatisticsError
        A negative count, or no pairs.

    Examples
    --------
    >>> test = mcnemar(7, 4, 0, 9)
    >>> test.exact_p, test.mid_p
    (0.125, 0.0625)
    """
    if min(both, first_only, second_only, neither) < 0 or both + first_only + second_only + neither == 0:
        raise StatisticsError("a table of pairs has counts from 0 up and at least one pair")
    discordant, fewer = first_only + second_only, min(first_only, second_only)
    method = "exact binomial, conditional"
    if discordant == 0:
        note = "the two are right on the same pairs: none tells them apart"
        interval = Interval.unavailable(level, method, note)
        return McNemar(both, 0, 0, neither, 1.0, 1.0, float("nan"), interval, pairs)
    lower_tail = float(special.bdtr(fewer, discordant, 0.5))
    point = float(np.exp(special.gammaln(discordant + 1) - special.gammaln(fewer + 1)
                         - special.gammaln(discordant - fewer + 1) - discordant * np.log(2)))  # fmt: skip
    share = clopper_pearson(first_only, discordant, level)
    ends = [end / (1 - end) if end < 1 else float("inf") for end in (share.low, share.high)]
    return McNemar(
        both=both,
        first_only=first_only,
        second_only=second_only,
        neither=neither,
        exact_p=min(1.0, 2 * lower_tail),
        mid_p=min(1.0, 2 * lower_tail - point),
        odds_ratio=first_only / second_only if second_only else float("inf"),
        interval=Interval(ends[0], ends[1], level, method),
        pairs=pairs,
    )


def mcnemar_test(
    outcomes: pd.DataFrame,
    first: str,
    second: str,
    *,
    by: str = "model",
    within: Sequence[str] | None = None,
    pairs: PairKind = "majority",
    level: float = 0.95,
) -> McNemar:
    """Test whether one of two models is right more often, pair by pair.

    Parameters
    ----------
    outcomes
        One row per run: question_id, run (for "first run" and "runs"), `by`, the columns of `within`, accuracy.
    first, second
        Two values of `by`, as text.
    by, within
        As in `pair_by_question`. Each question at each value of what is held equal is a pair of its own; the
        pairs of one question are then not independent, so pick one temperature for a clean test.
    pairs
        See the table at the top of the module. Half of the runs right is no majority.
    level
        Nominal coverage of the odds ratio's interval.

    Raises
    ------
    StatisticsError
        A column or a label is missing, or nothing can be paired.

    Examples
    --------
    >>> rows = [(f"q{q}", m, int(m == "a" or q > 3)) for q in range(6) for m in "ab"]
    >>> table = pd.DataFrame(rows, columns=["question_id", "model", "accuracy"])
    >>> test = mcnemar_test(table, "a", "b")
    >>> test.first_only, test.second_only, test.mid_p
    (4, 0, 0.0625)
    """
    if pairs not in get_args(PairKind):
        raise StatisticsError(f"unknown pairs '{pairs}'", hint=f"one of {', '.join(get_args(PairKind))}")
    held = held_equal(by, within, outcomes)
    numbered = () if pairs == "majority" else ("run",)
    require_runs(outcomes, ("question_id", *numbered, "accuracy"), by=[by, *held])
    keys = ["question_id", *held]
    table = outcomes[keys].apply(labels_of).astype("category").assign(label=labels_of(outcomes[by]))
    table["right"] = as_floats(outcomes["accuracy"])
    if numbered:
        table["run"] = outcomes["run"].to_numpy()
    table = table.dropna(subset="right")
    columns = {}
    for label in (first, second):
        own = table[table["label"] == label]
        if own.empty:
            raise StatisticsError(f"there are no runs of {by} '{label}'", field=by)
        if pairs == "majority":
            columns[label] = own.groupby(keys, observed=True)["right"].mean() > 0.5
        elif pairs == "first run":
            columns[label] = own.sort_values("run").groupby(keys, observed=True)["right"].first() > 0.5
        else:
            columns[label] = own.groupby([*keys, "run"], observed=True)["right"].mean() > 0.5
    both = pd.concat(columns, axis=1, join="inner")
    if both.empty:
        raise StatisticsError(f"{by} '{first}' and '{second}' share no pair", hint="hold less equal (within=[])")
    a, b = both[first].to_numpy(dtype=bool), both[second].to_numpy(dtype=bool)
    return mcnemar(
        int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum()), level=level, pairs=pairs
    )
