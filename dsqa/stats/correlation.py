"""How the metrics go together: correlation matrices as long tables, with intervals that know about questions.

==================  ===================================================================================
pearson             linear association over runs
spearman            Pearson's on midranks
kendall             τ_b over pairs of runs; `dsqa.stats.pair_order`
partial             of two metrics, all others held: −Pᵢⱼ/√(Pᵢᵢ Pⱼⱼ), P the inverse correlation matrix
partial spearman    the same on midranks
repeated            within questions: r of deviations from the question's means, i.e. of the parallel lines
                    of an analysis of covariance; do two metrics move together from run to run, whatever
                    the question? Bakdash & Marusich (2017), Frontiers in Psychology 8:456
==================  ===================================================================================

All but the last mix differences between questions with those between runs; the last sees runs only. They can have
opposite signs.

Two intervals each: *fisher*, tanh(atanh r ± z s) with s = 1/√(n − 3), √((1 + r²/2)/(n − 3)) for Spearman and
√(0.437/(n − 4)) for Kendall (Bonett & Wright 2000; Fieller, Hartley & Pearson 1957), 1/√(n − 3 − held) for partial,
1/√(df − 1), df = n − questions − 1, for repeated. It takes runs as independent, which only `repeated` comes near
to. *Jackknife over questions*: each question is left out in turn with all its runs, ranks and means taken anew; on
Fisher's z, t on clusters − 1 degrees of freedom (`dsqa.stats.jackknife`). It is the one to report: the percentile
bootstrap over questions covers 86 % with five questions where this covers 94 (docs/coverage.md).

A p value of r = 0 for each, from the same errors: `p` and `p_cluster`.

One set of rows for the whole matrix: runs that lack any of the metrics are left out and counted. Partial
correlations leave out the score where its three parts are there: it is their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.columns import as_floats, require_runs
from dsqa.stats.correlation_errors import clustered, fisher
from dsqa.stats.interval import FloatArray, check_level
from dsqa.stats.jackknife import leave_out
from dsqa.stats.pair_order import MOST_ORDERED, by_pair_order
from dsqa.stats.streams import DEFAULT_SEED

__all__ = ["METRICS", "CorrelationKind", "correlation_matrix", "correlation_table"]

CorrelationKind = Literal["pearson", "spearman", "kendall", "partial", "partial spearman", "repeated"]

METRICS = (
    "completion", "accuracy", "executability", "score", "words_out", "tokens_out", "word_ratio", "token_ratio",
    "jaccard_mean", "seconds",
)  # fmt: skip
"""The outcome columns that a matrix has unless told otherwise, where the table has them."""


_PARTS = ("completion", "accuracy", "executability")


def _scaled(products: FloatArray, total: FloatArray, size: FloatArray) -> FloatArray:
    """Return correlations from centred sums of products, shape (..., k, k); NaN for columns without spread.

    `total` is the number of runs, shape (...), and `size` the columns' magnitude: a column that is constant in a
    resample has rounding noise for a spread.
    """
    scale = np.sqrt(np.maximum(np.diagonal(products, axis1=-2, axis2=-1), 0.0))
    flat = scale <= 1e-7 * np.sqrt(total)[..., None] * np.maximum(size, 1e-300)
    scale = np.where(flat, np.nan, scale)
    return np.asarray(np.clip(products / (scale[..., :, None] * scale[..., None, :]), -1.0, 1.0), dtype=np.float64)


def _by_moments(values: FloatArray, clusters: np.ndarray, weights: FloatArray, *, within: bool) -> FloatArray:
    """Return Pearson's matrices for every row of cluster weights, from sums per cluster."""
    count = weights.shape[1]
    sizes = np.bincount(clusters, minlength=count).astype(np.float64)
    size = np.abs(values - values.mean(axis=0)).max(axis=0)
    means = np.stack([np.bincount(clusters, column, count) for column in values.T], axis=1) / sizes[:, None]
    # A question's mean is the same however often the question is drawn.
    moved = values - (means[clusters] if within else values.mean(axis=0))
    k = values.shape[1]
    products = np.stack([
        np.bincount(clusters, moved[:, i] * moved[:, j], count) for i in range(k) for j in range(k)
    ], axis=1)  # fmt: skip
    total = weights @ sizes
    sums = (weights @ products).reshape(-1, k, k)
    if not within:
        first = weights @ np.stack([np.bincount(clusters, column, count) for column in moved.T], axis=1)
        sums = sums - first[:, :, None] * first[:, None, :] / total[:, None, None]
    return _scaled(sums, total, size)


def _by_ranks(values: FloatArray, clusters: np.ndarray, weights: FloatArray) -> FloatArray:
    """Return Spearman's matrices for every row of cluster weights, midranks taken anew in each."""
    groups = [np.unique(column, return_inverse=True) for column in values.T]
    out = np.empty((len(weights), values.shape[1], values.shape[1]))
    for at, row in enumerate(weights):
        runs = row[clusters]
        total = runs.sum()
        ranks = np.empty_like(values)
        for column, (distinct, codes) in enumerate(groups):
            mass = np.bincount(codes, runs, len(distinct))
            ranks[:, column] = (np.cumsum(mass) - mass / 2 - total / 2)[codes]
        # Midranks have the mean they are centred at.
        products = (ranks * runs[:, None]).T @ ranks
        out[at] = _scaled(products, np.asarray(total), np.full(values.shape[1], total))
    return out


def _partial(matrices: FloatArray) -> FloatArray:
    out = np.full_like(matrices, np.nan)
    finite = np.flatnonzero(np.isfinite(matrices).all(axis=(1, 2)))
    sound = finite[np.linalg.cond(matrices[finite]) < 1e10]
    inverse = np.linalg.inv(matrices[sound])
    scale = np.sqrt(np.diagonal(inverse, axis1=1, axis2=2))
    out[sound] = np.clip(-inverse / (scale[:, :, None] * scale[:, None, :]), -1.0, 1.0)
    k = np.arange(matrices.shape[1])
    out[:, k, k] = 1.0
    return out


class _Matrices:
    """Correlation matrices of every kind for the data (first) and without some clusters; each found once."""

    def __init__(self, names: Sequence[str], values: FloatArray, clusters: np.ndarray, weights: FloatArray) -> None:
        self.names, self._values, self._clusters = tuple(names), values, clusters
        self._weights = np.concatenate([np.ones((1, weights.shape[1])), weights])
        self._plain: dict[str, FloatArray] = {}

    def kept(self, kind: CorrelationKind) -> list[int]:
        """Return the columns of a kind: the score is the sum of its parts, so nothing is left of it given them."""
        drop = kind.startswith("partial") and set(_PARTS) < set(self.names)
        return [i for i, name in enumerate(self.names) if not (drop and name == "score")]

    def of(self, kind: CorrelationKind) -> FloatArray:
        """Return the matrices, shape (1 + rows of weights, kept, kept)."""
        base = {"partial": "pearson", "partial spearman": "spearman"}.get(kind, kind)
        if base not in self._plain:
            if base in ("spearman", "kendall"):
                ordered = _by_ranks if base == "spearman" else by_pair_order
                self._plain[base] = ordered(self._values, self._clusters, self._weights)
            else:
                self._plain[base] = _by_moments(
                    self._values, self._clusters, self._weights, within=base == "repeated"
                )  # fmt: skip
        kept = self.kept(kind)
        plain = self._plain[base][:, kept][:, :, kept]
        return _partial(plain) if kind.startswith("partial") else plain


def _complete(
    outcomes: pd.DataFrame, metrics: Sequence[str] | None, cluster: str
) -> tuple[tuple[str, ...], FloatArray, np.ndarray]:
    names = tuple(metrics if metrics is not None else [name for name in METRICS if name in outcomes.columns])
    require_runs(outcomes, (cluster, *names))
    if len(set(names)) != len(names) or len(names) < 2:
        raise StatisticsError("a correlation needs at least two different metrics")
    data = np.column_stack([as_floats(outcomes[name]) for name in names])
    kept = np.isfinite(data).all(axis=1) & outcomes[cluster].notna().to_numpy()
    if kept.sum() < 4:
        rarest = names[int(np.isfinite(data).sum(axis=0).argmin())]
        hint = f"fewest have {rarest}: leave it out"
        raise StatisticsError(f"{int(kept.sum())} runs have all the metrics: too few for a correlation", hint=hint)
    data = data[kept]
    codes, _ = pd.factorize(outcomes[cluster][kept], sort=True)
    # An order that does not depend on the table's rows or the questions' names, down to the last digit.
    order = np.lexsort(data.T)
    return names, np.asarray(data[order], dtype=np.float64), pd.factorize(codes[order])[0]


def correlation_matrix(
    outcomes: pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    kind: CorrelationKind = "spearman",
    cluster: str = "question_id",
) -> pd.DataFrame:
    """Return a correlation matrix; NaN for metrics that do not vary.

    Raises
    ------
    StatisticsError
        An unknown kind, a column is missing, fewer than two metrics, or fewer than four complete runs.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": ["q"] * 5, "a": [1, 2, 3, 4, 5], "b": [1, 4, 9, 16, 25]})
    >>> round(float(correlation_matrix(table, ["a", "b"]).loc["a", "b"]), 6)
    1.0
    """
    if kind not in get_args(CorrelationKind):
        raise StatisticsError(f"unknown kind '{kind}'", hint=f"one of {', '.join(get_args(CorrelationKind))}")
    names, data, clusters = _complete(outcomes, metrics, cluster)
    every = _Matrices(names, data, clusters, np.empty((0, int(clusters.max()) + 1)))
    kept = [names[i] for i in every.kept(kind)]
    return pd.DataFrame(every.of(kind)[0], index=kept, columns=kept)


def correlation_table(
    outcomes: pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    kinds: Sequence[CorrelationKind] = get_args(CorrelationKind),
    cluster: str = "question_id",
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
    resamples: int = 999,
) -> pd.DataFrame:
    """Return every pair's correlation of every kind, with two intervals.

    Parameters
    ----------
    outcomes
        One row per run: the metrics, and the cluster's column.
    metrics
        Columns; None for those of `METRICS` that the table has.
    kinds
        See the table at the top of the module.
    cluster
        What makes runs alike.
    seed, resamples
        Accepted as everywhere in `dsqa.stats`, nothing is drawn; 0 resamples for no intervals over clusters.
    level
        Nominal coverage.

    Returns
    -------
    pandas.DataFrame
        kind, first, second, r, fisher_low, fisher_high, low, high (jackknife over clusters), p (r = 0, by Fisher's z:
        it takes runs as independent), p_cluster, n, dropped, clusters, note. A metric that does not vary has no r.
        Kendall's takes at most `MOST_ORDERED` runs, drawn at random.

    Raises
    ------
    StatisticsError
        As `correlation_matrix`.

    Examples
    --------
    >>> table = pd.DataFrame({"question_id": list("aabbcc"), "x": [1, 2, 3, 4, 5, 6], "y": [2, 1, 4, 3, 6, 5]})
    >>> row = correlation_table(table, ["x", "y"], kinds=["repeated"], seed=1, resamples=99).iloc[0]
    >>> float(row["r"])  # within every question the two move against each other
    -1.0
    """
    check_level(level)
    unknown = [kind for kind in kinds if kind not in get_args(CorrelationKind)]
    if unknown:
        raise StatisticsError(f"unknown kind '{unknown[0]}'", hint=f"one of {', '.join(get_args(CorrelationKind))}")
    del seed
    names, data, clusters = _complete(outcomes, metrics, cluster)
    count = int(clusters.max()) + 1
    weights = leave_out(count) if resamples else np.empty((0, count))
    every = _Matrices(names, data, clusters, weights)
    parts = []
    for kind in kinds:
        kept = np.array(names)[every.kept(kind)]
        i, j = np.triu_indices(len(kept), 1)
        draws = every.of(kind)[:, i, j]
        used = min(len(data), MOST_ORDERED) if kind == "kendall" else len(data)
        ends = fisher(draws[0], kind, used, count, len(kept), level)
        low, high, p_cluster, note = clustered(draws[0], draws[1:], count, kind, level)
        part = pd.DataFrame({"kind": kind, "first": kept[i], "second": kept[j], "r": draws[0]})
        part = part.assign(fisher_low=ends[0], fisher_high=ends[1], low=low, high=high, p=ends[2])
        part = part.assign(p_cluster=p_cluster)
        parts.append(part.assign(n=used, dropped=len(outcomes) - used, clusters=count, note=note))
    return pd.concat(parts, ignore_index=True)
