"""The comparison of two studies: an overall table, a table of questions, each with its verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.adjust import Adjustment, adjust_p
from dsqa.stats.comparison.equivalence import inside_margin
from dsqa.stats.comparison.layout import Measure, pair_by_question
from dsqa.stats.comparison.paired import paired_interval
from dsqa.stats.drift.pairing import CHANGES, SIDES, pair_studies
from dsqa.stats.drift.permutation import cell_null, p_value
from dsqa.stats.interval import FloatArray, Interval, check_level
from dsqa.stats.proportions import proportion_bounds
from dsqa.stats.streams import DEFAULT_SEED, stream

__all__ = ["Drift", "compare_studies"]

_MEASURES: tuple[Measure, ...] = ("accuracy", "score", "instability")
_LEAST_PERMUTATIONS = 9_999


@dataclass(frozen=True)
class Drift:
    """What changed between two studies.

    Parameters
    ----------
    overall
        A row per measure (accuracy, score, instability): old, new, difference (new − old, mean over questions),
        low, high (other runs of these questions; instability: Student's t over questions), method, equivalence
        ("equivalent", "different" or "undecided" at the margin; accuracy only).
    questions
        A row per question: question_id, runs_old, runs_new, accuracy_old, accuracy_new, difference, low, high
        (Newcombe's interval, all conditions together), p_accuracy, p_answers (permutation), the same adjusted,
        change (see `CHANGES`).
    p_accuracy, p_answers
        Permutation p values over all questions: has mean accuracy changed, has any distribution of answers.
    verdict
        "better", "worse", "other answers", "no change seen".
    alpha, adjustment, permutations
        As they were used.
    """

    overall: pd.DataFrame
    questions: pd.DataFrame
    p_accuracy: float
    p_answers: float
    verdict: str
    alpha: float
    adjustment: str
    permutations: int


def compare_studies(
    old: pd.DataFrame,
    new: pd.DataFrame,
    *,
    seed: int = DEFAULT_SEED,
    margin: float = 0.05,
    alpha: float = 0.05,
    adjustment: Adjustment = "holm",
) -> Drift:
    """Compare an earlier and a later study of the same questions.

    Estimand: the change on these very questions, under the conditions that both studies have. The tests permute
    runs between the studies within each cell, and are exact; see `dsqa.stats.drift.permutation`. A question's verdict
    takes the p values adjusted over all questions: better or worse if accuracy has changed, "other answers" if only
    the distribution of answers has. Failed runs count as the outcome tables mark them.

    Parameters
    ----------
    old, new
        One row per run, see `dsqa.outcomes.columns`.
    seed
        Of the permutations.
    margin
        The largest change of accuracy that would not matter, for "equivalent".
    alpha
        Level of the verdicts.
    adjustment
        Over questions: "holm" (no false alarm at all, with probability 1 − alpha) or "bh" (share of false ones).

    Raises
    ------
    StatisticsError
        Nothing can be compared (see `pair_studies`), or a setting is out of range.
    """
    check_level(1 - alpha)
    if not margin > 0:
        raise StatisticsError(f"a margin of equivalence is positive, got {margin:g}")
    runs, left_out = pair_studies(old, new)
    names = sorted(runs["question_id"].unique())
    # The smallest p value must survive the adjustment tenfold.
    permutations = max(_LEAST_PERMUTATIONS, math.ceil(10 * len(names) / alpha))
    rows, changes, squares = [], np.zeros(permutations + 1), np.zeros(permutations + 1)
    for name in names:
        row, difference, chi_square = _question(name, runs[runs["question_id"] == name], permutations, seed)
        rows.append(row)
        changes += difference / len(names)
        squares += chi_square
    questions = _with_verdicts(pd.DataFrame(rows), alpha, adjustment)
    p_accuracy, p_answers = p_value(changes, two_sided=True), p_value(squares, two_sided=False)
    return Drift(
        overall=_overall(runs, 1 - alpha, margin),
        questions=_in_order(pd.concat([questions, left_out], ignore_index=True)),
        p_accuracy=p_accuracy,
        p_answers=p_answers,
        verdict=_verdict(p_accuracy, p_answers, float(changes[0]), alpha),
        alpha=alpha,
        adjustment=adjustment,
        permutations=permutations,
    )


def _question(
    name: str, runs: pd.DataFrame, permutations: int, seed: int
) -> tuple[dict[str, object], FloatArray, FloatArray]:
    nulls = [
        cell_null(cell, permutations, stream(seed, "drift", name, str(block)))
        for block, cell in runs.groupby("block", sort=True)
    ]
    difference = np.mean([null.difference for null in nulls], axis=0)
    chi_square = np.sum([null.chi_square for null in nulls], axis=0)
    sides = [runs.loc[runs["side"] == side, "accuracy"].fillna(0.0) for side in SIDES]
    low, high = _newcombe(*(int(side.sum()) for side in sides), *(len(side) for side in sides))
    row = {
        "question_id": name,
        "runs_old": len(sides[0]),
        "runs_new": len(sides[1]),
        "accuracy_old": sides[0].mean(),
        "accuracy_new": sides[1].mean(),
        # Means of shares are off by a last digit where they cancel.
        "difference": round(float(difference[0]), 12),
        "low": low,
        "high": high,
        "p_accuracy": p_value(difference, two_sided=True),
        "p_answers": p_value(chi_square, two_sided=False),
    }
    return row, difference, chi_square


def _newcombe(right_old: int, right_new: int, n_old: int, n_new: int) -> tuple[float, float]:
    """Return Newcombe's hybrid score interval for new − old (1998, Statistics in Medicine 17:873, method 10)."""
    shares = np.array([right_old / n_old, right_new / n_new])
    low, high = proportion_bounds([right_old, right_new], [n_old, n_new])
    gap = shares[1] - shares[0]
    below = math.hypot(shares[1] - low[1], high[0] - shares[0])
    above = math.hypot(high[1] - shares[1], shares[0] - low[0])
    return max(float(gap - below), -1.0), min(float(gap + above), 1.0)


def _with_verdicts(questions: pd.DataFrame, alpha: float, adjustment: Adjustment) -> pd.DataFrame:
    for name in ("p_accuracy", "p_answers"):
        questions[f"{name}_adjusted"] = adjust_p(questions[name].to_numpy(), adjustment)
    numbers = questions[["p_accuracy_adjusted", "p_answers_adjusted", "difference"]].to_numpy(dtype=np.float64)
    questions["change"] = [_verdict(p, q, difference, alpha) for p, q, difference in numbers]
    return questions


def _verdict(p_accuracy: float, p_answers: float, difference: float, alpha: float) -> str:
    if p_accuracy <= alpha and difference != 0:
        return "better" if difference > 0 else "worse"
    return "other answers" if p_answers <= alpha else "no change seen"


def _overall(runs: pd.DataFrame, level: float, margin: float) -> pd.DataFrame:
    rows: list[dict[str, object]] = []
    for measure in _MEASURES:
        try:
            paired = pair_by_question(runs, by="side", within=["block"], measure=measure)
        except StatisticsError as refusal:
            rows.append({"measure": measure, "method": f"not available: {refusal.message}"})
            continue
        if measure == "instability":
            # The SD of few runs varies more than those runs show: differences over questions carry all of its noise.
            interval = paired_interval(paired, *SIDES[::-1], level=level)
        else:
            interval = paired_interval(paired, *SIDES[::-1], resample="runs", level=level)
        means = {side: float(paired.values[:, paired.position(side)].mean()) for side in SIDES}
        rows.append(
            {
                "measure": measure,
                **means,
                "difference": means["new"] - means["old"],
                "low": interval.low,
                "high": interval.high,
                "method": _how(interval),
                "equivalence": inside_margin(interval, margin) if measure == "accuracy" else None,
            }
        )
    columns = ["measure", *SIDES, "difference", "low", "high", "method", "equivalence"]
    return pd.DataFrame(rows).reindex(columns=columns)


def _how(interval: Interval) -> str:
    if not interval.available:
        return f"not available: {interval.note}"
    return f"{interval.method}; {interval.note}" if interval.note else interval.method


def _in_order(questions: pd.DataFrame) -> pd.DataFrame:
    """Return the questions that changed first, the strongest evidence on top."""
    rank = questions["change"].map({change: i for i, change in enumerate(CHANGES)})
    evidence = questions[["p_accuracy", "p_answers"]].min(axis=1)
    order = questions.assign(_rank=rank, _p=evidence).sort_values(["_rank", "_p", "question_id"], kind="stable")
    return order.drop(columns=["_rank", "_p"]).reset_index(drop=True)
