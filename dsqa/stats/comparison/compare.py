"""Which model is best, and how strong is the evidence: every comparison of one study in one tidy table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.adjust import Adjustment, adjust_p
from dsqa.stats.bootstrap import BootstrapMethod
from dsqa.stats.comparison.answer import answer_of, best_of
from dsqa.stats.comparison.layout import Measure, Paired, labels_of, pair_by_question, pairs
from dsqa.stats.comparison.mixed import mixed_rows
from dsqa.stats.comparison.rows import Row, Settings, for_all, per_model, per_pair
from dsqa.stats.interval import check_level
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["COMPARISON_COLUMNS", "ModelComparison", "compare_models"]

COMPARISON_COLUMNS: dict[str, tuple[str, str]] = {
    "quantity": ("string", "what the row states, see `compare_models`"),
    "first": ("string", "the model, or the first of two; missing for statements about all"),
    "second": ("string", "the second of two; differences are first − second, ratios first / second"),
    "estimate": ("Float64", "the value"),
    "low": ("Float64", "lower end of its interval"),
    "high": ("Float64", "upper end of its interval"),
    "p": ("Float64", "two-sided p value, where the row is a test"),
    "p_adjusted": ("Float64", "adjusted over all pairs of the same quantity"),
    "questions": ("Int64", "questions (or pairs) it rests on"),
    "method": ("string", "how it was found"),
    "note": ("string", "why something is missing, or what must be known"),
}

MARGINS = {"accuracy": 0.05, "score": 0.15, "instability": 0.05}
"""Differences that are taken not to matter unless told otherwise: a twentieth of the scale."""


@dataclass(frozen=True)
class ModelComparison:
    """A comparison: the tidy table, and what it comes to.

    Parameters
    ----------
    table
        The columns of `COMPARISON_COLUMNS`.
    answer
        Sentences that answer which is best and how strong the evidence is.
    best
        The label with the best mean.
    separated
        Labels that `best` differs from after adjustment, in its favour.
    paired
        The values behind it.
    level
        Of its intervals.
    """

    table: pd.DataFrame
    answer: str
    best: str
    separated: tuple[str, ...]
    paired: Paired
    level: float

    def rows(self, quantity: str) -> pd.DataFrame:
        """Return the rows of one quantity.

        Raises
        ------
        StatisticsError
            The table has none.
        """
        found = self.table[self.table["quantity"] == quantity]
        if found.empty:
            known = ", ".join(dict.fromkeys(self.table["quantity"]))
            raise StatisticsError(f"no rows of '{quantity}'", hint=f"there are: {known}")
        return found.reset_index(drop=True)


def compare_models(
    outcomes: pd.DataFrame,
    *,
    by: str = "model",
    within: Sequence[str] | None = None,
    measure: Measure = "accuracy",
    seed: int = DEFAULT_SEED,
    margin: float | None = None,
    level: float = 0.95,
    power: float = 0.8,
    adjust: Adjustment = "holm",
    method: BootstrapMethod | None = None,
    resamples: int = 9999,
) -> ModelComparison:
    """Compare models (or temperatures, or any other column) on the same questions.

    ==============================  ====================================================================
    mean                            per model: mean over questions, Student's t over questions
    mean, whatever failed runs …    per model: worst and best case for runs lost to the infrastructure
    probability of being best       per model, over questions and runs
    rank                            per model: expected rank, and the ends between which it lies
    difference                      per pair: Student's t over questions, p by permutation within questions
    difference, these questions     per pair: t on variances within cells: other runs of the very same questions
    signed ranks                    per pair: Wilcoxon; the estimate is the rank-biserial correlation
    rank difference                 per pair after Friedman: Conover, Holm
    Hedges' g, odds ratio, h        per pair: effect sizes; the last two for accuracy
    McNemar, …                      per pair, for accuracy: majority answers, first runs, all runs
    odds ratio within a question    per pair, for accuracy: mixed logistic regression
    equivalence                     per pair: two one-sided tests against the margin; the 1 − 2α interval
    smallest detectable difference  per pair: what this study finds with the power asked for
    Friedman, mixed model           all at once: is there any difference
    ==============================  ====================================================================

    Parameters
    ----------
    outcomes
        One row per run: question_id, `by`, columns held equal, and accuracy or score; run and status if known.
    by, within, measure
        As in `pair_by_question`.
    seed, method, resamples
        Of what is resampled; `method` takes a bootstrap in place of Student's t over questions.
    margin
        The largest difference that would not matter; `MARGINS` if None.
    level, power
        Of intervals and of the smallest detectable difference.
    adjust
        For the p values of the pairs, see `dsqa.stats.adjust`.

    Raises
    ------
    StatisticsError
        Nothing can be paired, or a setting is out of range. What cannot be found for the data at hand (one
        question, no differences, a model that is never right) is a row without a value and with the reason.

    Examples
    --------
    >>> rows = [(f"q{q}", m, r, int((q * 7 + r * 3) % 10 < n)) for m, n in (("a", 8), ("b", 4)) for q in range(9)
    ...         for r in range(10)]
    >>> table = pd.DataFrame(rows, columns=["question_id", "model", "run", "accuracy"])
    >>> result = compare_models(table, seed=1, resamples=999)
    >>> result.best
    'a'
    """
    check_level(level)
    paired = pair_by_question(outcomes, by=by, within=within, measure=measure)
    settings = Settings(seed, level, power, MARGINS[measure] if margin is None else margin, method, resamples)
    rows = per_model(outcomes, paired, settings)
    adjusted: list[Row] = []
    for first, second in pairs(paired.labels):
        plain, tested = per_pair(outcomes, paired, first, second, settings)
        rows += plain
        adjusted += tested
    overall, tested = for_all(paired)
    adjusted += tested
    if measure == "accuracy":
        own = outcomes[labels_of(outcomes["question_id"]).isin(paired.questions)]
        tested, mixed = mixed_rows(own, by, paired.within, paired.labels, level)
        adjusted += tested
        overall += mixed
    for quantity in dict.fromkeys(row["quantity"] for row in adjusted):
        group = [row for row in adjusted if row["quantity"] == quantity]
        for row, p in zip(group, adjust_p([row.get("p", np.nan) for row in group], adjust), strict=True):
            row["p_adjusted"] = p
    table = _tidy([*rows, *adjusted, *overall])
    best, separated = best_of(paired, table, level)
    answer = answer_of(paired, table, best, separated, level=level, margin=settings.margin, adjust=adjust)
    return ModelComparison(table, answer, best, separated, paired, level)


def _tidy(rows: list[Row]) -> pd.DataFrame:
    table = pd.DataFrame(rows).reindex(columns=list(COMPARISON_COLUMNS))
    types = {name: kind for name, (kind, _) in COMPARISON_COLUMNS.items()}
    order = {name: i for i, name in enumerate(dict.fromkeys(row["quantity"] for row in rows))}
    table = table.sort_values("quantity", key=lambda names: names.map(order), kind="stable", ignore_index=True)
    return table.astype(types)
