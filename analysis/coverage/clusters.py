"""Statistics of runs that are alike within questions: lines, correlations, agreement, ratios."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from analysis.coverage.candidates import jackknife, resampled_sums
from analysis.coverage.tables import Ends, Row, attempt, ends, rows_of
from dsqa.stats import icc, quantile_line, theil_sen_line

__all__ = ["agreement", "correlations", "lines", "ratios", "robust_lines"]

CLUSTERS = (3, 5, 10, 20, 41, 100)
RUNS = 10
T975 = 0.975
# Correlation of question effects, of runs within a question, share of variance between questions, what is made of it.
SHAPES: dict[str, tuple[float, float, float, str]] = {
    "none": (0.0, 0.0, 0.6, "normal"),
    "0.6 between, 0.3 within questions": (0.6, 0.3, 0.6, "normal"),
    "0.95 and 0.9": (0.95, 0.9, 0.8, "normal"),
    "−0.5 and 0.5": (-0.5, 0.5, 0.5, "normal"),
    "skewed, 0.6": (0.6, 0.6, 0.6, "skewed"),
    "one metric 0 or 1": (0.4, 0.4, 0.6, "binary"),
    "runs nearly independent, 0.5": (0.5, 0.5, 0.05, "normal"),
}


def draw(
    rng: np.random.Generator, shape: str, studies: int, clusters: int, runs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return two metrics, shape (studies, clusters, runs)."""
    between, within, share, kind = SHAPES[shape]
    a, b = rng.normal(size=(2, studies, clusters, 1))
    e, f = rng.normal(size=(2, studies, clusters, runs))
    b, f = between * a + np.sqrt(1 - between**2) * b, within * e + np.sqrt(1 - within**2) * f
    x, y = (np.sqrt(share) * u + np.sqrt(1 - share) * v for u, v in ((a, e), (b, f)))
    if kind == "skewed":
        x, y = np.exp(0.7 * x), np.exp(0.7 * y)
    return x, (y > 0.5).astype(float) if kind == "binary" else y


def sums_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return each cluster's sums of 1, x, y, x², y², xy."""
    parts = (np.ones_like(x), x, y, x * x, y * y, x * y)
    return np.stack([part.sum(axis=-1) for part in parts], axis=-1)


def pearson(sums: np.ndarray) -> np.ndarray:
    """Return r from such sums."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(all="ignore"):
        return np.clip((n * xy - x * y) / np.sqrt((n * xx - x**2) * (n * yy - y**2)), -1, 1)


def slope(sums: np.ndarray) -> np.ndarray:
    """Return the least-squares slope from such sums."""
    n, x, y, xx, _, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(all="ignore"):
        return (n * xy - x * y) / (n * xx - x**2)


def _left_out(sums: np.ndarray) -> np.ndarray:
    return sums.sum(axis=1, keepdims=True) - sums


def _ranked(x: np.ndarray, y: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return Spearman's or Kendall's coefficient and those without each cluster, study by study."""
    studies, clusters, runs = x.shape
    value, without = np.empty(studies), np.empty((studies, clusters))
    for at in range(studies):
        u, v = x[at].ravel(), y[at].ravel()
        if kind == "kendall":
            value[at], without[at] = _kendall(u, v, clusters, runs)
            continue
        owner = np.repeat(np.arange(clusters), runs)
        value[at] = _rank_r(u, v)
        without[at] = [_rank_r(u[owner != g], v[owner != g]) for g in range(clusters)]
    return value, without


def _rank_r(u: np.ndarray, v: np.ndarray) -> float:
    a, b = stats.rankdata(u), stats.rankdata(v)
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / scale) if scale > 0 else np.nan


def _kendall(u: np.ndarray, v: np.ndarray, clusters: int, runs: int) -> tuple[float, np.ndarray]:
    signs = [np.sign(w[:, None] - w[None, :]).astype(np.float32) for w in (u, v)]
    blocks = []
    for a, b in ((0, 1), (0, 0), (1, 1)):
        product = (signs[a] * signs[b]).reshape(clusters, runs, clusters, runs).sum(axis=(1, 3)).astype(float)
        # Without cluster g: everything but its row and its column.
        whole = product.sum()
        blocks.append((whole, whole - 2 * product.sum(axis=1) + np.diag(product)))
    with np.errstate(all="ignore"):
        value = blocks[0][0] / np.sqrt(blocks[1][0] * blocks[2][0])
        return float(value), blocks[0][1] / np.sqrt(blocks[1][1] * blocks[2][1])


def _fisher(r: np.ndarray, n: int) -> Ends:
    with np.errstate(all="ignore"):
        half = stats.norm.ppf(T975) / np.sqrt(n - 3)
        return np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)


def correlations(studies: int, resamples: int, rng: np.random.Generator) -> list[Row]:
    """Pearson's, Spearman's, Kendall's and repeated-measures correlation, runs clustered by question."""
    rows = []
    for name in SHAPES:
        many = draw(rng, name, 1, 60_000, RUNS)
        few = [part[:, :300] for part in many]
        truths = {
            "pearson": float(pearson(sums_of(*many).sum(axis=1))[0]),
            "spearman": _rank_r(*(part.ravel() for part in many)),
            "kendall": float(np.mean([
                _kendall(*(part[0, i : i + 150].ravel() for part in many), 150, RUNS)[0] for i in range(0, 4500, 150)
            ])),
        }  # fmt: skip
        del few
        centred = [part - part.mean(axis=-1, keepdims=True) for part in many]
        truths["repeated"] = float(pearson(sums_of(*centred).sum(axis=1))[0])
        for g in CLUSTERS:
            x, y = draw(rng, name, studies, g, RUNS)
            for kind in ("pearson", "repeated"):
                own = (x, y) if kind == "pearson" else tuple(p - p.mean(axis=-1, keepdims=True) for p in (x, y))
                sums = sums_of(*own)
                value = pearson(sums.sum(axis=1))
                by = {
                    "jackknife over questions, Fisher's z": jackknife(value, pearson(_left_out(sums)), "fisher"),
                    "jackknife over questions, plain": jackknife(value, pearson(_left_out(sums))),
                    "Fisher's z, runs independent": _fisher(value, g * RUNS if kind == "pearson" else g * (RUNS - 1)),
                }
                if g <= 41:
                    by["percentile bootstrap over questions"] = resampled_sums(sums, pearson, rng, resamples)
                rows += rows_of(f"correlation, {kind}", name, g, truths[kind], by)
            if g > 41:
                continue
            part = max(studies // 4, 1)
            for kind in ("spearman", "kendall"):
                value, without = _ranked(x[:part], y[:part], kind)
                by = {"jackknife over questions, Fisher's z": jackknife(value, without, "fisher")}
                rows += rows_of(f"correlation, {kind}", name, g, truths[kind], by)
    return rows


def lines(studies: int, resamples: int, rng: np.random.Generator) -> list[Row]:
    """The slope of a least-squares line, such as tokens on words: five kinds of errors."""
    rows = []
    for name in SHAPES:
        truth = float(slope(sums_of(*draw(rng, name, 1, 60_000, RUNS)).sum(axis=1))[0])
        for g in CLUSTERS:
            x, y = draw(rng, name, studies, g, RUNS)
            sums = sums_of(x, y)
            value = slope(sums.sum(axis=1))
            n = g * RUNS
            moved = x - x.mean(axis=(1, 2), keepdims=True)
            residual = y - y.mean(axis=(1, 2), keepdims=True) - value[:, None, None] * moved
            spread = (moved**2).sum(axis=(1, 2))
            leverage = 1 / n + moved**2 / spread[:, None, None]
            variances = {
                "classical, runs independent": ((residual**2).sum(axis=(1, 2)) / (n - 2) / spread, n - 2),
                "HC3, runs independent": (
                    ((moved * residual / (1 - leverage)) ** 2).sum(axis=(1, 2)) / spread**2, n - 2,
                ),
                "clustered (HC1)": (
                    ((moved * residual).sum(axis=2) ** 2).sum(axis=1) / spread**2 * g / (g - 1) * (n - 1) / (n - 2),
                    g - 1,
                ),
            }  # fmt: skip
            without = slope(_left_out(sums))
            # (I − H_gg)⁻¹ times a cluster's residuals gives exactly the change of the slope without it.
            variances["clustered, HC3"] = (((value[:, None] - without) ** 2).sum(axis=1), g - 1)
            by: dict[str, Ends] = {}
            for method, (variance, freedom) in variances.items():
                half = stats.t.ppf(T975, freedom) * np.sqrt(variance)
                by[method] = (value - half, value + half)
            by["jackknife over questions"] = jackknife(value, without)
            if g <= 41:
                by["percentile bootstrap over questions"] = resampled_sums(sums, slope, rng, resamples)
            rows += rows_of("slope of a line", name, g, truth, by)
    return rows


def robust_lines(studies: int, _resamples: int, rng: np.random.Generator) -> list[Row]:
    """The slopes of the median regression and of Theil–Sen, by the package."""
    rows = []
    part, runs = max(studies // 10, 1), 5
    for name in ("0.6 between, 0.3 within questions", "skewed, 0.6"):
        frame = _frame(*draw(rng, name, 1, 3_000, runs))
        median = quantile_line("y ~ x", frame).estimate
        theil = theil_sen_line("y ~ x", frame, resamples=41).estimate
        for g in (5, 10, 20, 41):
            frames = [_frame(*draw(rng, name, 1, g, runs)) for _ in range(part)]
            fits = [attempt(lambda f=f: quantile_line("y ~ x", f).interval) for f in frames]
            rows += rows_of(
                "slope of a median regression", name, g, median, {"clustered kernel errors, t": ends(fits)}
            )
            found = [attempt(lambda f=f: theil_sen_line("y ~ x", f).interval) for f in frames]
            rows += rows_of("slope by Theil–Sen", name, g, theil, {"jackknife over questions": ends(found)})
    return rows


def _frame(x: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    clusters, runs = x.shape[1:]
    owner = np.repeat(np.arange(clusters), runs)
    return pd.DataFrame({"question_id": owner, "x": x.ravel(), "y": y.ravel()})


def _marks(
    rng: np.random.Generator, studies: int, clusters: int, runs: int, base: tuple[float, float], error: float
) -> np.ndarray:
    """Return marks 0 or 1 of two raters, shape (studies, clusters, runs, 2)."""
    p = rng.beta(*base, (studies, clusters, 1))
    truth = rng.random((studies, clusters, runs)) < p
    wrong = rng.random((studies, clusters, runs, 2)) < error * rng.uniform(0.3, 1.7, (studies, clusters, 1, 1))
    return np.asarray(truth[..., None] ^ wrong, dtype=float)


def _four(marks: np.ndarray) -> np.ndarray:
    """Return each cluster's numbers of pairs 00, 01, 10, 11."""
    a, b = marks[..., 0], marks[..., 1]
    return np.stack([((a == i) & (b == j)).sum(axis=-1) for i in (0, 1) for j in (0, 1)], axis=-1).astype(float)


def coefficients(four: np.ndarray) -> dict[str, np.ndarray]:
    """Return Cohen's κ, Krippendorff's α (nominal) and Gwet's AC1 from such numbers."""
    n = four.sum(axis=-1)
    with np.errstate(all="ignore"):
        alike = (four[..., 0] + four[..., 3]) / n
        first, second = (four[..., 2] + four[..., 3]) / n, (four[..., 1] + four[..., 3]) / n
        chance = first * second + (1 - first) * (1 - second)
        pi = (first + second) / 2
        expected = 2 * pi * (1 - pi) * 2 * n / (2 * n - 1)
        return {
            "Cohen's κ": np.where(chance < 1 - 1e-12, (alike - chance) / (1 - chance), np.nan),
            "Krippendorff's α": np.where(expected > 1e-12, 1 - (1 - alike) / expected, np.nan),
            "Gwet's AC1": (alike - 2 * pi * (1 - pi)) / (1 - 2 * pi * (1 - pi)),
        }


def agreement(studies: int, resamples: int, rng: np.random.Generator) -> list[Row]:
    """Agreement of two raters who mark 0 or 1, runs clustered by question; ICC(2,1) of marks 0 to 3."""
    rows = []
    cases = {
        "half right, 1 in 10 errors": ((1.0, 1.0), 0.1),
        "mostly right, 1 in 10 errors": ((4.0, 1.0), 0.1),
        "half right, 3 in 10 errors": ((0.5, 0.5), 0.3),
        "rarely right, 1 in 20 errors": ((0.5, 3.0), 0.05),
    }
    for name, (base, error) in cases.items():
        many = _four(_marks(rng, 1, 100_000, RUNS, base, error)).sum(axis=1)
        truths = {what: float(value[0]) for what, value in coefficients(many).items()}
        for g in CLUSTERS:
            four = _four(_marks(rng, studies, g, RUNS, base, error))
            whole, without = coefficients(four.sum(axis=1)), coefficients(_left_out(four))
            for what, truth in truths.items():
                out = np.where(np.isnan(without[what]).any(axis=1, keepdims=True), np.nan, without[what])
                by = {
                    "jackknife over questions, Fisher's z": jackknife(whole[what], out, "fisher"),
                    "jackknife over questions, plain": jackknife(whole[what], out),
                }
                if g <= 41:
                    by["percentile bootstrap over questions"] = resampled_sums(
                        four, lambda sums, what=what: coefficients(sums)[what], rng, resamples
                    )
                rows += rows_of(what, name, g, truth, by)
    for g in CLUSTERS[:-1]:
        question, run = rng.normal(size=(studies // 4, g, 1, 1)), rng.normal(size=(studies // 4, g, RUNS, 1))
        rater, noise = rng.normal(size=(studies // 4, 1, 1, 3)), rng.normal(size=(studies // 4, g, RUNS, 3))
        marks = 0.7 * question + 0.5 * run + 0.2 * rater + 0.5 * noise
        truth = (0.49 + 0.25) / (0.49 + 0.25 + 0.04 + 0.25)
        fits = [icc(m.reshape(-1, 3), "2,1") for m in marks]
        value = np.array([fit.value for fit in fits])
        without = np.array(
            [[icc(np.delete(m, out, axis=0).reshape(-1, 3), "2,1").value for out in range(g)] for m in marks]
        )
        by = {
            "F distribution, runs independent": ends([fit.interval for fit in fits]),
            "jackknife over questions, Fisher's z": jackknife(value, without, "fisher"),
        }
        rows += rows_of("ICC(2,1)", "three raters, runs of a question alike", g, truth, by)
    return rows


def ratios(studies: int, resamples: int, rng: np.random.Generator) -> list[Row]:
    """Ratios of sums over questions: cost per right answer, the share of a part in the score's variance."""
    rows = []
    cases = {"half right": (1.0, 1.0), "mostly right": (4.0, 1.0), "rarely right": (0.5, 3.0)}
    for name, base in cases.items():
        truth_cost = np.exp(0.18) / (base[0] / sum(base))
        for g in CLUSTERS:
            p = rng.beta(*base, (studies, g))
            cost = np.exp(rng.normal(0, 0.6, (studies, g)))
            sums = np.stack([cost, rng.binomial(RUNS, p) / RUNS], axis=-1)
            rows += _ratio("cost per right answer", name, g, truth_cost, sums, rng, resamples, "log")
            # A run fails with 0.05; else it is right with p: parts CR and RA, covariances within cells.
            failed = rng.binomial(20, 0.05, (studies, g))
            right = rng.binomial(20 - failed, p)
            done, mean = 1 - failed / 20, right / 20
            both = mean - mean * done
            parts = np.stack([mean * (1 - mean) + both, done * (1 - done) + mean * (1 - mean) + 2 * both], axis=-1)
            rows += _ratio("share of a part", name, g, _share(base), parts, rng, resamples, "plain")
    return rows


def _share(base: tuple[float, float]) -> float:
    p = np.random.default_rng(0).beta(*base, 400_000)
    done, right = 0.95, 0.95 * p
    both = right - right * done
    top = right * (1 - right) + both
    return float(top.sum() / (top + done * (1 - done) + both).sum())


def _ratio(
    what: str, name: str, g: int, truth: float, sums: np.ndarray, rng: np.random.Generator, resamples: int, scale: str
) -> list[Row]:
    def ratio(parts: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.where(parts[..., 1] > 0, parts[..., 0] / parts[..., 1], np.nan)

    value, without = ratio(sums.sum(axis=1)), ratio(_left_out(sums))
    without = np.where(np.isnan(without).any(axis=1, keepdims=True), np.nan, without)
    by = {"jackknife over questions" + (", logarithm" if scale == "log" else ""): jackknife(value, without, scale)}
    if g <= 41:
        by["percentile bootstrap over questions"] = resampled_sums(sums, ratio, rng, resamples)
    return rows_of(what, name, g, truth, by)
