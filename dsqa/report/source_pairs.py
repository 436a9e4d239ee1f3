"""The metrics that an imported study's source holds, and which of ours each one means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.errors import ReportError
from dsqa.importing.meanings import MARK_WORDS, columns_meant
from dsqa.stats.columns import as_floats
from dsqa.stats.interval import FloatArray
from dsqa.study import StudyFolder

__all__ = ["MARKS", "Pair", "pair_metrics", "source_values"]

_KEYS = ["question_id", "condition_id", "run"]
MARKS = {"completion", "accuracy", "executability", "executability_repository", "score"}
"""Our metrics that are marks: equal or not, without a tolerance."""


@dataclass(frozen=True)
class Pair:
    """A metric of the source and the column of the outcome table that it is set beside.

    Parameters
    ----------
    metric, ours
        The names.
    why
        How they came together: ``named``, ``by name``, or ``closest of …``.
    """

    metric: str
    ours: str
    why: str


def source_values(folder: StudyFolder, outcomes: pd.DataFrame) -> dict[str, FloatArray]:
    """Return the metrics that an imported study's source holds, in the order of the rows of `outcomes`.

    A word such as ``correct``, ``C`` or ``fail`` is 1 or 0; other words are no number and missing.

    Raises
    ------
    ReportError
        They cannot be read.
    """
    path = folder.source_metrics_path
    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise ReportError(f"cannot be read: {str(error).splitlines()[0]}", path=path, hint="import anew") from None
    if table.empty:
        return {}
    words = table["text"].astype("string").str.strip().str.lower().map(MARK_WORDS).astype("Float64")
    number = table["value"].astype("Float64").fillna(words)
    wide = table.assign(number=number).pivot_table(
        index=_KEYS, columns="metric", values="number", aggfunc="first", dropna=False, observed=True, sort=False
    )
    keys = pd.MultiIndex.from_arrays([
        outcomes["question_id"].astype(str), outcomes["condition_id"].astype(str), outcomes["run"].astype("int64")
    ])  # fmt: skip
    wide = wide[~wide.index.duplicated()].reindex(keys)
    values = {}
    for metric in table["metric"].drop_duplicates():
        number = wide[metric].astype("Float64") if metric in wide else pd.Series(pd.NA, outcomes.index, "Float64")
        values[str(metric)] = as_floats(number)
    return values


def pair_metrics(
    metrics: Mapping[str, FloatArray], outcomes: pd.DataFrame, given: Mapping[str, str | None] | None = None
) -> list[Pair]:
    """Pair metrics by meaning.

    Where a name could mean several of our columns, the one that is closest in value is taken: equal in most runs,
    then smallest median difference.

    Parameters
    ----------
    metrics
        Metric → its values, in the order of the rows of `outcomes`, NaN where missing.
    outcomes
        The outcome table.
    given
        Metric → our column, or None to leave it unpaired; goes before any meaning.

    Raises
    ------
    ReportError
        A name that was given is none of the source's, or none of our columns of numbers.
    """
    chosen = dict(given or {})
    numeric = [name for name in outcomes.columns if pd.api.types.is_numeric_dtype(outcomes[name].dtype)]
    for metric, column in chosen.items():
        if metric not in metrics:
            raise ReportError(
                f"the source has no metric '{metric}'", field="pairs", hint=f"it has: {', '.join(metrics)}"
            )
        if column is not None and column not in numeric:
            raise ReportError(f"'{column}' is no number of a run", field="pairs", hint=f"any of {', '.join(numeric)}")
    pairs = []
    for metric, values in metrics.items():
        if metric in chosen:
            column = chosen[metric]
            if column is not None:
                pairs.append(Pair(metric, column, "named"))
            continue
        candidates = columns_meant(metric)
        if not candidates or not np.isfinite(values).any():
            continue
        distances = {name: _distance(values, as_floats(outcomes[name])) for name in candidates}
        best = min(candidates, key=distances.__getitem__)
        pairs.append(Pair(metric, best, "by name" if len(candidates) == 1 else f"closest of {', '.join(candidates)}"))
    return pairs


def _distance(values: FloatArray, ours: FloatArray) -> tuple[float, float]:
    gap = np.abs(values - ours)
    gap = gap[np.isfinite(gap)]
    if not gap.size:
        return 1.0, np.inf
    return -float((gap < 1e-9).mean()), float(np.median(gap))
