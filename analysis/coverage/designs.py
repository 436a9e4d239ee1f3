"""Variance components, reliability of runs, temperature slopes, and what plans promise."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from analysis.coverage.candidates import jackknife
from analysis.coverage.tables import Row, row, rows_of
from dsqa.stats import plan_comparison, plan_precision, read_pilot

__all__ = ["components", "plans", "reliability", "temperatures"]

QUESTIONS = (3, 5, 10, 20, 41, 100)
MODELS = 2


def _effects(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return effects with mean 0 and variance 1."""
    if kind == "normal":
        return rng.normal(size=shape)
    # Two points, as always right and always wrong.
    return np.where(rng.random(shape) < 0.3, np.sqrt(0.7 / 0.3), -np.sqrt(0.3 / 0.7))


def components(studies: int, _resamples: int, rng: np.random.Generator) -> list[Row]:
    """Variance components of questions × models × runs, and the reliability of one run."""
    rows = []
    cases = {
        "normal, all of a size": ("normal", 1.0, 0.5, 1.0),
        "questions of two kinds": ("two", 1.0, 0.5, 1.0),
        "questions alike": ("normal", 0.1, 0.3, 1.0),
    }
    for name, (kind, question, model, run) in cases.items():
        for n in (2, 5, 30):
            for q in QUESTIONS:
                a = np.sqrt(question) * _effects(rng, kind, (studies, q, 1))
                b = np.sqrt(model) * rng.normal(size=(studies, q, MODELS))
                # Means and sums of squares of a cell of n runs.
                mean = a + b + np.sqrt(run / n) * rng.normal(size=(studies, q, MODELS))
                within = run * rng.chisquare(n - 1, (studies, q, MODELS))
                full = _anova(mean, within, n, np.ones(q, dtype=bool))
                without = np.stack([_anova(mean, within, n, np.arange(q) != out) for out in range(q)], axis=1)
                label = f"N = {n}: {name}"
                for at, (what, truth) in enumerate(
                    (("between questions", question), ("question × model", model), ("between runs", run))
                ):
                    own, others = full[:, at], without[:, :, at]
                    proper = (own > 0) & (others > 0).all(axis=1)
                    logs = np.log(np.where(proper[:, None], others, 1.0))
                    centre = np.log(np.where(proper, own, 1.0))
                    pseudo = q * centre[:, None] - (q - 1) * logs
                    half = stats.t.ppf(0.975, q - 1) * pseudo.std(axis=1, ddof=1) / np.sqrt(q)
                    middle = pseudo.mean(axis=1)
                    pair = np.exp(middle - half), np.exp(middle + half)
                    by = {
                        "jackknife over questions, pseudo-values": tuple(np.where(proper, e, np.nan) for e in pair),
                        "jackknife over questions, logarithm": tuple(
                            np.where(proper, e, np.nan) for e in jackknife(own, others, "log")
                        ),
                    }
                    rows += rows_of(f"variance component, {what}", label, q, truth, by)
    return rows


def _anova(mean: np.ndarray, within: np.ndarray, n: int, kept: np.ndarray) -> np.ndarray:
    """Return the balanced estimates of σ²_q, σ²_qm, σ²_e, shape (studies, 3)."""
    mean, within = mean[:, kept], within[:, kept]
    q, m = mean.shape[1:]
    residual = within.sum(axis=(1, 2)) / (q * m * (n - 1))
    own = mean.mean(axis=2)
    cells = n * ((mean - own[..., None]) ** 2).sum(axis=(1, 2)) / (q * (m - 1))
    questions = n * m * own.var(axis=1, ddof=1) if q > 1 else np.full(len(mean), np.nan)
    return np.stack([(questions - cells) / (n * m), (cells - residual) / n, residual], axis=1)


def reliability(studies: int, _resamples: int, rng: np.random.Generator) -> list[Row]:
    """The reliability of one run under one condition: ln F jackknifed over questions."""
    rows = []
    for name, draw in {
        "rates from 0 to 1": rng.random,
        "most near 0 or 1": lambda s: rng.beta(0.3, 0.3, s),
        "nearly alike": lambda s: rng.beta(8.0, 8.0, s),
    }.items():
        many = draw((400_000,))
        between, within = float(many.var()), float((many * (1 - many)).mean())
        truth = between / (between + within)
        for n in (2, 5, 30):
            for q in QUESTIONS:
                right = rng.binomial(n, draw((studies, q)))
                mean = right / n
                own = mean * (1 - mean) * n

                def log_f(kept: np.ndarray, mean: np.ndarray = mean, own: np.ndarray = own, n: int = n) -> np.ndarray:
                    size = int(kept.sum())
                    with np.errstate(all="ignore"):
                        ratio = n * mean[:, kept].var(axis=1, ddof=1) / (own[:, kept].sum(axis=1) / (size * (n - 1)))
                        return np.log(ratio)

                full = log_f(np.ones(q, dtype=bool))
                without = np.stack([log_f(np.arange(q) != out) for out in range(q)], axis=1)
                pseudo = q * full[:, None] - (q - 1) * without
                proper = np.isfinite(pseudo).all(axis=1)
                pseudo = np.where(proper[:, None], pseudo, 0.0)
                half = stats.t.ppf(0.975, q - 1) * pseudo.std(axis=1, ddof=1) / np.sqrt(q)
                error = np.sqrt((q - 1) / q * ((without - without.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))
                middle = {
                    "pseudo-values": (pseudo.mean(axis=1), half),
                    "estimate": (full, stats.t.ppf(0.975, q - 1) * error),
                }
                by = {}
                for method, (centre, reach) in middle.items():
                    pair = []
                    for end in (centre - reach, centre + reach):
                        theta = np.maximum((np.exp(np.minimum(end, 700)) - 1) / n, 0)
                        pair.append(np.where(proper, theta / (1 + theta), np.nan))
                    by[f"jackknife over questions of ln F, {method}"] = (pair[0], pair[1])
                rows += rows_of("reliability of one run", f"N = {n}: {name}", q, truth, by)
    return rows


def temperatures(studies: int, _resamples: int, rng: np.random.Generator) -> list[Row]:
    """The slope of accuracy with temperature, within questions: clustered errors."""
    rows = []
    heats = np.array([0.2, 0.7, 1.0, 1.2])
    moved = heats - heats.mean()
    for name, fall in {"no slope": 0.0, "falls by 0.3": -0.3}.items():
        for n in (2, 10, 100):
            for q in QUESTIONS:
                p = np.clip(rng.random((studies, q, 1)) + fall * rng.uniform(0, 2, (studies, q, 1)) * moved, 0, 1)
                many = np.clip(rng.random((200_000, 1)) + fall * rng.uniform(0, 2, (200_000, 1)) * moved, 0, 1)
                truth = float((many @ moved).mean() / (moved @ moved)) if fall else 0.0
                each = rng.binomial(n, p) / n @ moved / (moved @ moved)
                value = each.mean(axis=1)
                without = (each.sum(axis=1, keepdims=True) - each) / (q - 1)
                # CR3: the change of the slope without each question, see the slope of a line.
                error = np.sqrt(((value[:, None] - without) ** 2).sum(axis=1))
                half = np.where(error > 1e-12, stats.t.ppf(0.975, q - 1) * error, np.nan)
                by = {"clustered, HC3": (value - half, value + half), "jackknife": jackknife(value, without)}
                rows += rows_of("slope with temperature", f"N = {n}: {name}", q, truth, by)
    return rows


def plans(studies: int, _resamples: int, rng: np.random.Generator) -> list[Row]:
    """What `dsqa plan` promises against what studies then have: half-width in nine of ten, and power."""
    rows = []
    part = max(studies // 20, 5)
    for name, base in {"rates from 0 to 1": (1.0, 1.0), "most near 0 or 1": (0.3, 0.3)}.items():
        for pilot_questions in (5, 10, 20, 41):
            q, n = 40, 10
            kept, found = [], []
            for _ in range(part):
                rates = rng.beta(*base, pilot_questions)
                pilot = _pilot(rng, rates)
                promised = plan_precision(pilot, target=0.1, questions=[q], runs=[n], seed=1, simulations=100)
                widths = []
                gaps = []
                power = plan_comparison(pilot, difference=0.1, questions=[q], runs=[n], seed=1, simulations=200)
                for _ in range(40):
                    p = rng.beta(*base, q)
                    mean = rng.binomial(n, p) / n
                    widths.append(stats.t.ppf(0.975, q - 1) * mean.std(ddof=1) / np.sqrt(q))
                    d = mean - rng.binomial(n, p) / n + 0.1
                    gaps.append(abs(d.mean()) > stats.t.ppf(0.975, q - 1) * d.std(ddof=1) / np.sqrt(q))
                kept.append(float((np.array(widths) <= promised["half_width_90"].iloc[0]).mean()))
                found.append(float(np.mean(gaps)) - float(power["power"].iloc[0]))
            label = f"pilot of N = 5: {name}"
            share = row("plan: half-width promised for nine in ten studies", "share that keep it", label,
                        pilot_questions, 0.9, np.zeros(part), np.zeros(part))  # fmt: skip
            share |= {"coverage": float(np.mean(kept)), "truth_below": np.nan, "truth_above": np.nan,
                      "mean_width": float(np.std(kept, ddof=1)),
                      "standard_error": float(np.std(kept, ddof=1) / np.sqrt(part))}  # fmt: skip
            gap = share | {
                "statistic": "plan: power, realised minus promised", "method": "mean difference", "truth": 0.0,
                "coverage": float(np.mean(found)), "mean_width": float(np.std(found, ddof=1)),
                "standard_error": float(np.std(found, ddof=1) / np.sqrt(part)),
            }  # fmt: skip
            rows += [share, gap]
    return rows


def _pilot(rng: np.random.Generator, rates: np.ndarray, runs: int = 5) -> object:
    frames = []
    for condition in ("a", "b"):
        right = rng.random((len(rates), runs)) < rates[:, None]
        frame = pd.DataFrame({"question_id": np.repeat([f"q{i:03d}" for i in range(len(rates))], runs)})
        frames.append(frame.assign(condition_id=condition, accuracy=right.ravel() * 1.0))
    table = pd.concat(frames, ignore_index=True)
    return read_pilot(table.assign(score=1.5 + 1.5 * table["accuracy"]))
