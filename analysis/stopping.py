"""Confidence sequences under continuous looking: do they hold, and what do they save?

    python analysis/stopping.py            writes analysis/results/stopping.csv (a few minutes)

Accuracy: sequences of right and wrong with probability p, looked at after every run. `missed` is the share of
sequences whose interval excludes p at any of the first 1,000 runs; at 95 % it must not exceed 0.05. `runs` is the
mean number of runs until the interval is no wider than ±0.10 (looks after 10, 20, … runs; at most 400), `saved` the
share of 400 runs that are not asked, `missed at stop` how often the interval at that moment excludes p.

Instability: scores of several distributions, looked at after every one of 300 runs. `missed` is the share of
sequences whose interval excludes the true σ̄ at any of them; `runs` until the cell is called stable or unstable (0.3)
at 95 %, at most 300; `missed at stop` is the share of wrong calls.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from dsqa.stats.proportions import proportion_bounds
from dsqa.stats.sequential import instability_calls, proportion_sequence

HERE = Path(__file__).parent
SEED = 20261130
LEVEL = 0.95
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 0.98, 1.0)
HALF_WIDTH = 0.10
MOST_ACCURACY = 400
MOST_SPREAD = 300
SCORES: dict[str, dict[float, float]] = {
    "always 3": {3.0: 1.0},
    "3, 1 % zeros": {3.0: 0.99, 0.0: 0.01},
    "3 and 2.5 alike": {3.0: 0.5, 2.5: 0.5},
    "1 to 2, narrow": {1.0: 0.1, 1.5: 0.8, 2.0: 0.1},
    "3, 2.25 % zeros (about 0.3)": {3.0: 0.9775, 0.0: 0.0225},
    "1, 1.5, 2 alike": {1.0: 1 / 3, 1.5: 1 / 3, 2.0: 1 / 3},
    "3, 5 % zeros": {3.0: 0.95, 0.0: 0.05},
    "3, 10 % zeros": {3.0: 0.9, 0.0: 0.1},
    "uniform over 0, 0.5, … 3": {k / 2: 1 / 7 for k in range(7)},
    "2 and 3, some 1": {3.0: 0.45, 2.0: 0.45, 1.0: 0.1},
    "fair coin, 0 or 3": {3.0: 0.5, 0.0: 0.5},
}

Bounds = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def hedged_capital(runs: np.ndarray, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Betting confidence sequence of Waudby-Smith & Ramdas (2024), theorem 3, with predictable plug-in bets.

    Shape (sequences, runs) → ends of the same shape, on a grid of means.
    """
    count, n = runs.shape
    t = np.arange(1, n + 1)
    mean = (0.5 + np.cumsum(runs, axis=1)) / (t + 1)
    variance = (0.25 + np.cumsum((runs - mean) ** 2, axis=1)) / (t + 1)
    before = np.concatenate([np.full((count, 1), 0.25), variance[:, :-1]], axis=1)
    bet = np.sqrt(2 * np.log(2 / (1 - LEVEL)) / (before * t * np.log(t + 1)))
    low, high = np.full(runs.shape, np.nan), np.full(runs.shape, np.nan)
    for m in grid:
        with np.errstate(divide="ignore"):
            up = np.cumsum(np.log1p(np.minimum(bet, 0.5 / m) * (runs - m)), axis=1)
            down = np.cumsum(np.log1p(-np.minimum(bet, 0.5 / (1 - m)) * (runs - m)), axis=1)
        kept = np.maximum(up, down) + np.log(0.5) < -np.log(1 - LEVEL)
        low = np.where(kept & np.isnan(low), m, low)
        high = np.where(kept, m, high)
    return low, high


def accuracy_rows(sequences: int, seed: int) -> list[dict[str, object]]:
    methods: dict[str, Bounds] = {
        "beta-binomial, a = 0.25": lambda x, n: proportion_sequence(x, n, mixture=0.25),
        "beta-binomial, a = 0.5 (used)": proportion_sequence,
        "beta-binomial, a = 1": lambda x, n: proportion_sequence(x, n, mixture=1.0),
        "Wilson, made for a fixed N": proportion_bounds,
    }
    horizon = 1000
    n = np.arange(1, horizon + 1)
    table = {name: bounds(*np.meshgrid(np.arange(horizon + 1), n)) for name, bounds in _whole(methods).items()}
    rows = []
    for number, p in enumerate(SHARES):
        rng = np.random.default_rng([seed, 1, number])
        right = rng.random((sequences, horizon)) < p
        x = np.cumsum(right, axis=1)
        for name in methods:
            low, high = (end[n - 1, x] for end in table[name])
            rows.append({"estimand": "accuracy", "method": name, "truth": p, **_summary(low, high, p, MOST_ACCURACY)})
        few = right[: sequences // 10, :MOST_ACCURACY].astype(float)
        low, high = hedged_capital(few, np.arange(0.005, 1, 0.005))
        # The grid's ends stand for what lies beyond them.
        low, high = np.where(low <= 0.005, 0.0, low - 0.005), np.where(high >= 0.995, 1.0, high + 0.005)
        rows.append({
            "estimand": "accuracy", "method": "hedged capital (betting), first 400 runs", "truth": p,
            **_summary(low, high, p, MOST_ACCURACY),
        })  # fmt: skip
    return rows


def _whole(methods: dict[str, Bounds]) -> dict[str, Bounds]:
    """Make methods take impossible counts (more right than runs), which a full table has."""

    def wrapped(bounds: Bounds) -> Bounds:
        return lambda x, n: bounds(np.minimum(x, n), n)

    return {name: wrapped(bounds) for name, bounds in methods.items()}


def _summary(low: np.ndarray, high: np.ndarray, truth: float, most: int) -> dict[str, float]:
    outside = (low > truth + 1e-12) | (high < truth - 1e-12)
    looks = np.arange(10, most + 1, 10)
    narrow = (high - low)[:, looks - 1] / 2 <= HALF_WIDTH
    first = np.where(narrow.any(axis=1), narrow.argmax(axis=1), len(looks) - 1)
    stop = looks[first]
    return {
        "sequences": len(low),
        "missed": float(outside.any(axis=1).mean()),
        "runs": float(stop.mean()),
        "saved": float(1 - stop.mean() / most),
        "missed at stop": float(outside[np.arange(len(low)), stop - 1].mean()),
    }


def spread_rows(sequences: int, seed: int) -> list[dict[str, object]]:
    rows = []
    looks = np.arange(1, MOST_SPREAD + 1)
    for number, (name, shares) in enumerate(SCORES.items()):
        values, weights = np.array(list(shares)), np.array(list(shares.values()))
        truth = float(np.sqrt(max(weights @ values**2 - (weights @ values) ** 2, 0.0)) / 1.5)
        rng = np.random.default_rng([seed, 2, number])
        scores = list(rng.choice(values, size=(sequences, MOST_SPREAD), p=weights))
        missed = 0.0
        if 0 < truth < 1:
            # A sequence that calls σ̄ on either side of its true value excludes it.
            missed = float((instability_calls(scores, looks, threshold=truth) != 0).any(axis=1).mean())
        elif truth == 1:
            missed = float((instability_calls(scores, looks, threshold=0.999) == -1).any(axis=1).mean())
        else:
            missed = float((instability_calls(scores, looks, threshold=0.001) == 1).any(axis=1).mean())
        calls = instability_calls(scores, looks)
        called = (calls != 0).any(axis=1)
        first = np.where(called, (calls != 0).argmax(axis=1), MOST_SPREAD - 1)
        call = calls[np.arange(sequences), first]
        wrong = (call == 1) & (truth < 0.3) | (call == -1) & (truth >= 0.3)
        rows.append({
            "estimand": f"instability: {name}", "method": "betting (used)", "truth": truth, "sequences": sequences,
            "missed": missed, "runs": float((first + 1).mean()), "saved": float(1 - (first + 1).mean() / MOST_SPREAD),
            "missed at stop": float(wrong.mean()),
        })  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sequences", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "stopping.csv")
    options = parser.parse_args()
    rows = accuracy_rows(options.sequences, options.seed) + spread_rows(options.sequences // 4, options.seed)
    table = pd.DataFrame(rows).round({"truth": 4, "missed": 4, "runs": 1, "saved": 3, "missed at stop": 4})
    options.out.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(options.out, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
