"""What the statistics of a large study cost: 160,000 runs, and that time grows with the runs and no faster.

    python -m benchmarks.large_study [--runs 40000 80000 160000] [--questions 25]

A table of outcomes is simulated (25 questions × 4 models × 4 temperatures are 400 cells; N as the number of runs
asks), and the statistics are computed from it: everything that there is per cell, with intervals, then what is above
the cells. CPU seconds of this process, and wall seconds; the last column is the exponent b of time = a · runs^b
between one size and the next (1 is linear).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from dsqa.stats import (
    cell_curves,
    four_way_ledger,
    missing_case_bounds,
    stability_layers,
    summarise_cells,
    summarise_groups,
)
from dsqa.stats.comparison import compare_models
from dsqa.stats.generalisability import g_study

MODELS, TEMPERATURES = 4, (0.2, 0.7, 1.0, 1.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, nargs="+", default=[40_000, 80_000, 160_000])
    parser.add_argument("--questions", type=int, default=25)
    chosen = parser.parse_args()
    print(f"{'':<28}{'runs':>9}{'CPU s':>9}{'wall s':>9}{'exponent':>10}")
    before: dict[str, tuple[int, float]] = {}
    for runs in chosen.runs:
        outcomes = simulated(runs, chosen.questions)
        cells = summarise_cells(outcomes, seed=1)
        steps: dict[str, Callable[[], object] | None] = {
            "cell table": lambda o=outcomes: summarise_cells(o, seed=1),
            "stability in three layers": lambda o=outcomes: stability_layers(o, seed=1),
            "pass@k … maj@k": lambda o=outcomes: cell_curves(o),
            "lost runs": lambda o=outcomes: (four_way_ledger(o), missing_case_bounds(o)),
            "= per cell, all": None,
            "groups": lambda c=cells: summarise_groups(c, seed=1),
            "variance components": lambda o=outcomes: g_study(o),
            "models compared": lambda o=outcomes: compare_models(o, seed=1),
        }
        total_cpu = total_wall = 0.0
        for name, step in steps.items():
            if step is None:
                show(name, len(outcomes), total_cpu, total_wall, before)
                continue
            cpu, wall = timed(step)
            total_cpu, total_wall = total_cpu + cpu, total_wall + wall
            show(name, len(outcomes), cpu, wall, before)


def show(name: str, runs: int, cpu: float, wall: float, before: dict[str, tuple[int, float]]) -> None:
    exponent = ""
    if name in before:
        runs_before, cpu_before = before[name]
        exponent = f"{math.log(cpu / cpu_before) / math.log(runs / runs_before):.2f}"
    before[name] = runs, cpu
    print(f"{name:<28}{runs:>9,}{cpu:>9.2f}{wall:>9.2f}{exponent:>10}", flush=True)


def timed(step: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    step()
    return time.process_time() - cpu, time.perf_counter() - wall


def simulated(runs: int, questions: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    cells = questions * MODELS * len(TEMPERATURES)
    per_cell = max(runs // cells, 2)
    index = pd.MultiIndex.from_product(
        [range(questions), range(MODELS), TEMPERATURES, range(per_cell)],
        names=["question", "model", "temperature", "run"],
    )
    table = index.to_frame(index=False)
    p = np.repeat(rng.beta(0.5, 0.5, size=cells), per_cell)
    right = (rng.random(len(table)) < p).astype(int)
    code = rng.integers(0, 3, len(table)) * right
    lost = rng.random(len(table)) < 0.01
    right[lost] = code[lost] = 0
    wrong = rng.integers(0, 4, len(table)).astype(str)
    return pd.DataFrame(
        {
            "study": "benchmark",
            "question_id": "q" + table["question"].astype(str),
            "category": "c" + (table["question"] % 10).astype(str),
            "level": np.array(["easy", "medium", "hard"])[table["question"] % 3],
            "model": "m" + table["model"].astype(str),
            "temperature": table["temperature"],
            "condition_id": "m" + table["model"].astype(str) + "_t" + table["temperature"].astype(str),
            "endpoint": "default",
            "run": table["run"],
            "prompt_hash": "0" * 16,
            "status": np.where(lost, "failed", "answered"),
            "completion": (~lost).astype(int),
            "accuracy": right,
            "executability": code,
            "score": (~lost) + right + code / 2,
            "answer_key": np.where(right == 1, "right", wrong),
            "text_hash": rng.integers(0, 40, len(table)).astype(str),
            "result_key": np.where(right == 1, "right", wrong),
            "words_out": rng.integers(20, 200, len(table)),
            "tokens_total": rng.integers(30, 400, len(table)),
            "jaccard_first": rng.random(len(table)),
            "jaccard_mean": rng.random(len(table)),
            "seconds": rng.exponential(2, len(table)),
        }
    )


if __name__ == "__main__":
    main()
