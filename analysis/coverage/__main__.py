"""Simulate, and write what came out.

    python -m analysis.coverage [--studies 400] [--resamples 499] [--seed 20240611] [--sections NAME …] [--quick]

Writes analysis/results/coverage.csv (a row per statistic, method, distribution and N), and from it docs/coverage.md
and dsqa/stats/shown.csv. With `--sections` the rows of the others stay as they are; each section has a stream of its
own, so its rows do not depend on which others run. Nominal coverage is 95 % throughout, so 400 studies have a Monte
Carlo error of 1.1 points per row; a mean over rows has less.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.coverage import cells, clusters, designs, questions
from analysis.coverage.page import SHOWN, shown_table, write_page

RESULTS = Path(__file__).parents[1] / "results" / "coverage.csv"
SECTIONS = {
    part.__name__: part
    for part in (
        cells.proportions, cells.repeated, cells.scores, cells.answers, cells.pooled_proportions, questions.means,
        questions.differences, questions.these_questions, questions.changes, clusters.lines, clusters.robust_lines,
        clusters.correlations, clusters.agreement, clusters.ratios, designs.components, designs.reliability,
        designs.temperatures, designs.plans,
    )
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=400, help="simulated cells or studies a row")
    parser.add_argument("--resamples", type=int, default=499)
    parser.add_argument("--seed", type=int, default=20240611)
    parser.add_argument("--sections", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="20 studies a row, nothing written")
    parser.add_argument("--page", action="store_true", help="only make the page again from the results")
    chosen = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name in () if chosen.page else chosen.sections:
        begun = time.process_time()
        rng = np.random.default_rng([chosen.seed, *name.encode()])
        own = SECTIONS[name](20 if chosen.quick else chosen.studies, chosen.resamples, rng)
        rows += [line | {"section": name} for line in own]
        print(f"{name}: {time.process_time() - begun:.0f} s of processor time", file=sys.stderr, flush=True)
    table = pd.DataFrame(rows)
    if chosen.quick:
        print(table.groupby(["statistic", "method", "n"], sort=False)["coverage"].agg(["mean", "min"]).to_string())
        return
    if RESULTS.exists():
        before = pd.read_csv(RESULTS)
        before = before[~before["section"].isin(chosen.sections if not chosen.page else [])]
        order = {name: at for at, name in enumerate(SECTIONS)}
        table = pd.concat([before, table], ignore_index=True)
        table = table.sort_values("section", key=lambda names: names.map(order), kind="stable", ignore_index=True)
    table = table.round(4)
    table.to_csv(RESULTS, index=False)
    table = pd.read_csv(RESULTS)
    write_page(table)
    shown_table(table).to_csv(SHOWN, index=False)


if __name__ == "__main__":
    main()
