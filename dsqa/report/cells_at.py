"""The cells' intervals at the level and by the method that a reader of a notebook asks for."""

from __future__ import annotations

import pandas as pd

from dsqa.report.page import Page
from dsqa.stats import BootstrapMethod, Interval, instability_intervals, proportion_bounds
from dsqa.stats.cells import LEVEL
from dsqa.stats.columns import as_floats
from dsqa.stats.proportions import ProportionMethod
from dsqa.stats.sequential.proportion import PROPORTION_SEQUENCE, proportion_sequence
from dsqa.stats.sequential.spread import INSTABILITY_SEQUENCE, instability_sequence

__all__ = ["accuracy_at", "instability_at"]

_NAMES: dict[ProportionMethod, str] = {
    "wilson": "Wilson",
    "clopper-pearson": "Clopper–Pearson",
    "jeffreys": "Jeffreys",
}


def instability_at(page: Page, *, level: float = LEVEL, method: BootstrapMethod = "bca") -> pd.DataFrame:
    """Return the page's cells with intervals for σ̄ at a level and by a bootstrap rule.

    Those at hand are used where they are what is asked for. Where the number of runs was decided by looking, they are
    confidence sequences whatever the method.

    Raises
    ------
    StatisticsError
        The level or the method is none.
    """
    if level == LEVEL and (method == "bca" or page.stop is not None):
        return page.cells
    known = page.cells[page.cells["instability"].notna()]
    scores = {key: as_floats(rows) for key, rows in page.outcomes.groupby(["question_id", "condition_id"])["score"]}
    samples = [
        values[~pd.isna(values)]
        for values in (scores[key] for key in zip(known["question_id"], known["condition_id"], strict=True))
    ]
    if page.stop is None:
        found = instability_intervals(samples, seed=page.seed, method=method, level=level, resamples=page.resamples)
    else:
        low, high = instability_sequence(samples, level=level)
        found = [Interval(float(a), float(b), level, INSTABILITY_SEQUENCE) for a, b in zip(low, high, strict=True)]
    cells = page.cells.copy()
    cells.loc[known.index, "instability_low"] = [interval.low for interval in found]
    cells.loc[known.index, "instability_high"] = [interval.high for interval in found]
    cells.loc[known.index, "instability_method"] = [interval.method for interval in found]
    return cells


def accuracy_at(page: Page, *, level: float = LEVEL, method: ProportionMethod = "wilson") -> pd.DataFrame:
    """Return the page's cells with intervals for the share of right runs at a level and by a method.

    Where the number of runs was decided by looking, they are confidence sequences whatever the method.

    Raises
    ------
    StatisticsError
        The level or the method is none.
    """
    counted = page.outcomes.groupby(["question_id", "condition_id"])["accuracy"].agg(["sum", "count"])
    keys = pd.MultiIndex.from_frame(page.cells[["question_id", "condition_id"]])
    right, runs = (as_floats(counted[name].reindex(keys)) for name in ("sum", "count"))
    if page.stop is None:
        low, high = proportion_bounds(right, runs, method=method, level=level)
        name = _NAMES[method]
    else:
        low, high = proportion_sequence(right, runs, level=level)
        name = PROPORTION_SEQUENCE
    marked = pd.Series(runs > 0, page.cells.index)
    return page.cells.assign(
        right=pd.array(right.astype(int), dtype="Int64"),
        accuracy_low=pd.Series(low, page.cells.index).where(marked),
        accuracy_high=pd.Series(high, page.cells.index).where(marked),
        accuracy_method=name,
    )
