"""How long does `compare_models` take? On studies of 80,000 and 164,000 runs, as staff and authors have them.

    python -m benchmarks.comparison [--profile]

Simulated: 41 questions, 4 models, 4 temperatures; a fifth of the questions always right, a fifth always wrong.
Prints CPU seconds, since another program's load is no business of ours.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time

import numpy as np
import pandas as pd
from scipy import special

from dsqa.stats import compare_models

__all__ = ["main", "simulated"]

_SHAPES = {"80,000 runs": 122, "164,000 runs": 250}


def simulated(runs: int, *, seed: int = 1) -> pd.DataFrame:
    """Return an outcome table of 41 questions × 4 models × 4 temperatures × `runs`."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, 41, p=(0.6, 0.2, 0.2))
    p = special.expit(rng.normal(0, 1.5, (41, 1, 1)) + rng.normal(0, 0.4, (1, 4, 1)) + rng.normal(0, 0.1, (1, 1, 4)))
    p[kind == 1], p[kind == 2] = 1.0, 0.0
    right = rng.random((*p.shape, runs)) < p[..., None]
    q, m, t, r = (index.reshape(-1) for index in np.indices(right.shape))
    table = pd.DataFrame({"question_id": [f"q{i}" for i in q], "model": [f"model-{i}" for i in m]})
    table["temperature"], table["run"], table["status"] = np.array([0.2, 0.7, 1.0, 1.2])[t], r, "answered"
    table["accuracy"] = right.reshape(-1).astype(float)
    table["score"] = 1.0 + table["accuracy"] + rng.integers(0, 3, len(table)) / 2
    return table


def main() -> None:
    """Time the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="store_true", help="show where the larger one spends its time")
    given = parser.parse_args()
    compare_models(simulated(3), seed=1, resamples=199)
    for name, runs in _SHAPES.items():
        table = simulated(runs)
        for by in ("model", "temperature"):
            for measure in ("accuracy", "score"):
                start = time.process_time()
                compare_models(table, by=by, measure=measure, seed=1)
                print(f"{name}, by {by}, {measure}: {time.process_time() - start:.1f} CPU seconds", flush=True)
    if given.profile:
        profile = cProfile.Profile()
        profile.runcall(compare_models, table, seed=1)
        pstats.Stats(profile).sort_stats("cumtime").print_stats(45)


if __name__ == "__main__":
    main()
