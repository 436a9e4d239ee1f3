"""BCa intervals for the SD of 400 cells of 100 runs, 9,999 resamples: dsqa.stats against SciPy, in one run.

    python benchmarks/bootstrap.py [--cells 400] [--scipy-cells 400]

SciPy runs on the first `--scipy-cells` cells and its time is scaled up if they are fewer. Two kinds of
cells: scores on the half-point grid, as dsqa has them, and continuous values, where nothing can be
listed and both draw. "Equal results" means that ends differ by no more than the Monte Carlo error of
SciPy's own draw, which a second SciPy run with another seed shows.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from scipy import stats

from dsqa.stats import bootstrap_intervals, weighted_sd

RUNS, RESAMPLES = 100, 9999


def scores(cells: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Cells from nearly always right to coin tosses over all seven scores."""
    out = []
    for _ in range(cells):
        shares = rng.dirichlet(np.full(7, 0.4))
        out.append(rng.choice(np.arange(7) / 2, RUNS, p=shares))
    return [cell for cell in out if len(set(cell)) > 1]


def scipy_ends(cells: list[np.ndarray], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ends = []
    for cell in cells:
        ci = stats.bootstrap(
            (cell,), np.std, method="BCa", n_resamples=RESAMPLES, vectorized=True, rng=rng
        ).confidence_interval
        ends.append((ci.low, ci.high))
    return np.array(ends)


def compare(name: str, cells: list[np.ndarray], subset: int) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    ours = bootstrap_intervals(cells, weighted_sd, seed=1, method="bca", resamples=RESAMPLES)
    ours_seconds, ours_cpu = time.perf_counter() - wall, time.process_time() - cpu
    part = cells[:subset]
    wall, cpu = time.perf_counter(), time.process_time()
    theirs = scipy_ends(part, 1)
    scale = len(cells) / len(part)
    scipy_seconds, scipy_cpu = (time.perf_counter() - wall) * scale, (time.process_time() - cpu) * scale
    again = scipy_ends(part[:50], 2)
    mine = np.array([(ci.low, ci.high) for ci in ours])[: len(part)]
    gap = np.abs(mine - theirs)
    noise = np.abs(theirs[:50] - again)
    listed = sum(ci.method.endswith("exact") for ci in ours)
    scaled = "" if len(part) == len(cells) else f" (scaled from {len(part)} cells)"
    print(f"{name}: {len(cells)} cells x {RUNS} runs x {RESAMPLES:,} resamples")
    how = f"{listed} listed in full, {len(cells) - listed} drawn"
    print(f"  dsqa   {ours_seconds:8.2f} s  (CPU {ours_cpu:.2f} s; {how})")
    print(f"  scipy  {scipy_seconds:8.2f} s  (CPU {scipy_cpu:.2f} s){scaled}")
    print(f"  ratio  {scipy_seconds / ours_seconds:8.1f} x  (CPU {scipy_cpu / ours_cpu:.1f} x)")
    for label, gaps in (("dsqa - scipy", gap), ("scipy - scipy", noise)):
        print(
            f"  ends, {label:13}  median {np.median(gaps):.4f}  95 % {np.quantile(gaps, 0.95):.4f}  "
            f"max {gaps.max():.4f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=400)
    parser.add_argument("--scipy-cells", type=int, default=400)
    args = parser.parse_args()
    rng = np.random.default_rng(20240611)
    compare("scores", scores(args.cells, rng), args.scipy_cells)
    compare("continuous", [rng.gamma(2, 1, RUNS) for _ in range(args.cells)], args.scipy_cells)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
