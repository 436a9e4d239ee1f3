"""What an incomplete design does to each family of estimators, and what to use in its place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

__all__ = ["BIASES", "Bias", "DesignFault", "biases_of"]

DesignFault = Literal[
    "unequal N", "unseen questions", "asked again by result", "lost by result", "stopped by result", "drift over runs"
]


@dataclass(frozen=True)
class Bias:
    """A family of estimators that a fault of the design biases.

    Parameters
    ----------
    family
        A short name: ``pooled means``, ``instability``, ``model comparison``, ``correlation``, ``at k``.
    estimators
        What belongs to it, as a person would say.
    fault
        What biases it.
    reason
        How.
    instead
        What to use.
    """

    family: str
    estimators: str
    fault: DesignFault
    reason: str
    instead: str


_POOLED = "means over all runs pooled (score, accuracy, completion, length)"
_SPREAD = "averages of instability, of answer agreement and of pairwise similarity"
_MODELS = "models or temperatures compared without pairing"
_ASSOCIATION = "correlations and regressions over pooled runs"
_AT_K = "pass@k and maj@k"
_BY_QUESTION = "means over questions of cell means: dsqa.stats.summarise_groups, or each cell's own row"

BIASES: tuple[Bias, ...] = (
    Bias(
        "pooled means",
        _POOLED,
        "unequal N",
        "a question weighs as much as it was asked, not as much as any other",
        _BY_QUESTION,
    ),
    Bias(
        "instability",
        _SPREAD,
        "unequal N",
        "the population SD of N runs falls short of the true one, in the mean of its square by a factor of "
        "(N − 1)/N, so cells with few runs look more stable than the same cells with many",
        "the first runs of every cell, as many as the smallest has; or each cell's interval, which widens as N falls",
    ),
    Bias(
        "correlation",
        _ASSOCIATION,
        "unequal N",
        "cells with many runs decide the coefficient",
        "cell means, one row per cell; or kind='repeated' (within questions) with intervals by question",
    ),
    Bias(
        "at k",
        _AT_K,
        "unequal N",
        "cells with fewer than k runs drop out, so the average is over other questions at each k",
        "a k no larger than the smallest N",
    ),
    Bias(
        "model comparison",
        _MODELS,
        "unseen questions",
        "each model or temperature stands for other questions, so their difficulty is in the difference",
        "questions that all of them saw, paired: dsqa.stats.compare_models, pair_by_question",
    ),
    Bias(
        "pooled means",
        _POOLED,
        "unseen questions",
        "a question that few conditions saw weighs less",
        "means within the questions that all conditions saw",
    ),
    Bias(
        "pooled means",
        _POOLED,
        "asked again by result",
        "questions were asked again because of what their first runs gave, so these weigh most and the mean is "
        "theirs; it moves towards them with every further run",
        _BY_QUESTION,
    ),
    Bias(
        "instability",
        _SPREAD,
        "asked again by result",
        "the runs that chose a cell are in its estimate: cells asked again were chosen for having varied (or been "
        "wrong), which chance helped, and cells not asked again count as stable on the few runs that did not vary",
        "for cells asked again the later runs alone; for the others the upper end of the interval, not its estimate",
    ),
    Bias(
        "model comparison",
        _MODELS,
        "asked again by result",
        "a model's mean holds mostly the questions on which that model varied or failed",
        "the first runs of every cell, paired by question",
    ),
    Bias(
        "correlation",
        _ASSOCIATION,
        "asked again by result",
        "runs were chosen by a metric that is itself correlated, which bends every coefficient with it",
        "the first runs of every cell; or kind='repeated' (within questions)",
    ),
    Bias(
        "at k",
        _AT_K,
        "asked again by result",
        "beyond the first runs only the questions that varied or failed are left",
        "a k no larger than the smallest N",
    ),
    Bias(
        "pooled means",
        _POOLED,
        "stopped by result",
        "the last run of a cell was chosen by what it gave, so what ends the asking is over-represented; most where "
        "cells are short",
        "the first runs of every cell, as many as the smallest has",
    ),
    Bias(
        "instability",
        _SPREAD,
        "stopped by result",
        "asking stopped once a run differed (or agreed): every such cell holds a change (or none) whatever its true "
        "rate of change, and intervals that take N as fixed do not hold",
        "the number of runs until the first change, as a geometric waiting time; or new runs of a fixed number",
    ),
    Bias(
        "at k",
        _AT_K,
        "stopped by result",
        "choices of k of a cell's runs hold its last one as often as any other, and that one was chosen",
        "k = 1 with the first run of every cell",
    ),
    Bias(
        "correlation",
        _ASSOCIATION,
        "stopped by result",
        "a run's place in its cell goes with what it gave",
        "the first run of every cell",
    ),
    Bias(
        "instability",
        _SPREAD,
        "drift over runs",
        "a change from the first runs to the last adds to the spread of a cell, and is not what one would see asking "
        "twice at one time",
        "the page on drift, and instability within sessions",
    ),
    Bias(
        "at k",
        _AT_K,
        "drift over runs",
        "runs of a cell are not draws with one probability",
        "runs of one session",
    ),
    Bias(
        "model comparison",
        _MODELS,
        "drift over runs",
        "models asked at other times, or more often, are compared at other stages of the drift",
        "equal numbers of runs, asked in turn; the page on drift",
    ),
    Bias(
        "pooled means",
        _POOLED,
        "lost by result",
        "runs were lost more often in some cells than in others, and a lost run scores 0 or is not there",
        "worst and best case over what the lost runs could have been: dsqa.stats.missing_case_bounds",
    ),
    Bias(
        "instability",
        _SPREAD,
        "lost by result",
        "a lost run that scores 0 adds spread, one that is not there takes it away",
        "worst and best case: dsqa.stats.missing_case_bounds",
    ),
    Bias(
        "model comparison",
        _MODELS,
        "lost by result",
        "the difference holds how often the infrastructure failed",
        "worst and best case: dsqa.stats.missing_case_bounds(by=['model'])",
    ),
)


def biases_of(faults: Collection[DesignFault]) -> tuple[Bias, ...]:
    """Return the families that any of these faults biases, in a fixed order."""
    return tuple(bias for bias in BIASES if bias.fault in faults)
