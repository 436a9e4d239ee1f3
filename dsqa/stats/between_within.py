"""The same two metrics correlated over runs, between cells and within cells.

==================  ===================================================================================
all runs            both sources of variation mixed, cells weighing by their runs
between cells       of the cells' means: do questions and conditions that are high in one metric tend to be high
                    in the other? Means of few runs carry the runs' noise, which pulls it towards 0
within cells        of deviations from the cell's mean: do two metrics move together from run to run of the same
                    question under the same condition? Pearson's is the repeated-measures correlation of Bakdash &
                    Marusich (2017)
==================  ===================================================================================

For Pearson's the three obey (Robinson 1950)

    r = η_x η_y r_between + √(1 − η_x²) √(1 − η_y²) r_within,

η² the share of a metric's variance that lies between cells and r_between over means weighted by runs; so r can have
the opposite sign of r_within. No level can stand for another: that is the ecological fallacy.

At every level questions are drawn again with all their cells, since cells of one question are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require_runs
from dsqa.stats.correlation import METRICS, correlation_table
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["CORRELATION_LEVELS", "correlation_levels", "level_tables"]

RankKind = Literal["pearson", "spearman", "kendall"]
CORRELATION_LEVELS = ("all runs", "between cells", "within cells")
_CELL = ("study", "question_id", "condition_id")


def level_tables(
    outcomes: pd.DataFrame, metrics: Sequence[str] | None = None, *, cluster: str = "question_id"
) -> tuple[dict[str, pd.DataFrame], pd.Series]:
    """Return the complete runs at each level, and each metric's η²: its share of variance between cells.

    Parameters
    ----------
    outcomes
        One row per run: question_id, condition_id, the cluster's column, the metrics.
    metrics
        Columns; None for those of `METRICS` that the table has.
    cluster
        What makes cells alike.

    Returns
    -------
    dict of str to pandas.DataFrame, pandas.Series
        Level → the cluster's column and the metrics, a row per run, cell or run; metric → η², NaN where it does not
        vary. Runs that lack one of the metrics are left out at every level.

    Raises
    ------
    StatisticsError
        A column is missing.
    """
    names = list(metrics if metrics is not None else [name for name in METRICS if name in outcomes.columns])
    require_runs(outcomes, ("question_id", "condition_id", cluster, *names))
    keys = [name for name in _CELL if name in outcomes.columns]
    data = pd.DataFrame({name: as_floats(outcomes[name]) for name in names}, index=outcomes.index)
    kept = data.notna().all(axis=1) & outcomes[cluster].notna()
    data, labels = data[kept], outcomes.loc[kept, list(dict.fromkeys([*keys, cluster]))]
    if data.empty:
        raise StatisticsError("no run has all the metrics", hint="leave out those that are missing most")
    grouped = data.groupby([labels[name] for name in keys], sort=True, dropna=False)
    means = grouped.transform("mean")
    # On the scale of the metric: equal values leave a rounding error behind.
    noise = 1e-12 * data.abs().max()
    deviations = (data - means).where((data - means).abs() > noise, 0.0)
    total = ((data - data.mean()) ** 2).sum()
    share = 1 - (deviations**2).sum() / total.where(total > 0)
    first = ~labels.duplicated(keys)
    tables = {
        "all runs": pd.concat([labels[[cluster]], data], axis=1),
        "between cells": pd.concat([labels.loc[first, [cluster]], means[first]], axis=1),
        "within cells": pd.concat([labels[[cluster]], deviations], axis=1),
    }
    return tables, share


def correlation_levels(
    outcomes: pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    kind: RankKind = "spearman",
    cluster: str = "question_id",
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    resamples: int = 999,
) -> pd.DataFrame:
    """Return every pair's correlation over runs, between cells and within cells, with clustered intervals.

    Parameters
    ----------
    outcomes, metrics, cluster
        As in `level_tables`.
    kind
        Of correlation; ranks within cells are those of the deviations.
    seed, level, resamples
        Of the bootstrap over clusters.

    Returns
    -------
    pandas.DataFrame
        over (one of `CORRELATION_LEVELS`), then the columns of `correlation_table`. A level with fewer than four
        rows, or without variation, has no r, and a note says so.

    Raises
    ------
    StatisticsError
        An unknown kind, a column is missing, fewer than two metrics, or fewer than four complete runs.

    Examples
    --------
    >>> rows = [(q, i, 10 * q + i, 10 * q - i) for q in range(5) for i in range(4)]
    >>> table = pd.DataFrame(rows, columns=["question_id", "run", "x", "y"]).assign(condition_id="c")
    >>> found = correlation_levels(table, ["x", "y"], kind="pearson", seed=1, resamples=99)
    >>> found.set_index("over")["r"].round(2).to_dict()
    {'all runs': 0.99, 'between cells': 1.0, 'within cells': -1.0}
    """
    if kind not in get_args(RankKind):
        raise StatisticsError(f"unknown kind '{kind}'", hint=f"one of {', '.join(get_args(RankKind))}")
    tables, _ = level_tables(outcomes, metrics, cluster=cluster)
    parts = []
    for over, table in tables.items():
        names = [name for name in table.columns if name != cluster]
        if over == "between cells" and len(table) < 4:
            first, second = np.triu_indices(len(names), 1)
            why = f"{len(table)} cells are too few"
            pairs = {"first": np.array(names)[first], "second": np.array(names)[second], "r": np.nan}
            parts.append(pd.DataFrame({"over": over, "kind": kind, **pairs, "n": len(table), "note": why}))
            continue
        found = correlation_table(
            table, names, kinds=[kind], cluster=cluster, seed=seed, level=level, resamples=resamples
        )
        parts.append(found.assign(over=over))
    columns = ["over", *(name for name in parts[0].columns if name != "over")]
    return pd.concat(parts, ignore_index=True)[columns]
