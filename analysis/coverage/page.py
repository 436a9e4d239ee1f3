"""Turn analysis/results/coverage.csv into docs/coverage.md, and into what the package knows of its own coverage."""

# ruff: noqa: E501 - sentences of the page
from __future__ import annotations

from pathlib import Path

import pandas as pd

from analysis.coverage.verdicts import DEFAULTS, NOT_SIMULATED, TITLES, VERDICTS

__all__ = ["PAGE", "SHOWN", "page_text", "shown_table", "write_page"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coverage.md"
MODELS = ROOT / "analysis" / "results" / "models_coverage.csv"
SHOWN = ROOT / "dsqa" / "stats" / "shown.csv"
LEAST_GIVEN = 0.2
"""Rows in which fewer studies got an interval say little of it; the page counts them, means leave them out."""
_OF_CELLS = {"proportions", "repeated", "scores", "answers", "pooled_proportions"}


def write_page(table: pd.DataFrame) -> None:
    """Write docs/coverage.md."""
    PAGE.write_text(page_text(table), encoding="utf-8")


def shown_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each kind of interval that carries notes its mean and lowest coverage, in percent, by questions."""
    rows = []
    for kind, (statistics, method) in DEFAULTS.items():
        own = table[table["statistic"].isin(statistics) & (table["method"] == method)]
        for n, group in _counted(own).groupby("n"):
            share = 100 * group["coverage"]
            rows.append(
                {"kind": kind, "questions": n, "mean": round(share.mean(), 1), "lowest": round(share.min(), 1)}
            )
    return pd.DataFrame(rows, columns=["kind", "questions", "mean", "lowest"])


def _counted(rows: pd.DataFrame) -> pd.DataFrame:
    single = rows[~rows["distribution"].str.startswith("mean over") & rows["coverage"].notna()]
    return single[single["not_available"] <= 1 - LEAST_GIVEN] if len(single) else single


def page_text(table: pd.DataFrame) -> str:
    """Return the page: per statistic a table of coverage by method and N, mean and lowest."""
    parts = [
        "# Coverage of every interval\n",
        "Made by `python -m analysis.coverage` from `analysis/results/coverage.csv`; do not edit. Nominal coverage is "
        "95 %. An entry is the mean over the distributions tried and, in brackets, the lowest of them; the width is "
        "the mean one at the size named. A default keeps [93, 97] % on average with the least width; where none does, "
        "the interval is refused or carries a note that says so, which pages print beside the number "
        "(`dsqa/stats/shown.py`). Intervals that were not given (equal values, too few that differ) are left out of "
        "the coverage; *n/a* is their largest share, and rows in which more than four in five were not given are left "
        "out of the means.\n",
        "Each row of a simulated table is 400 studies (a quarter of them for rank correlations and the ICC, a tenth "
        "for robust lines, a twentieth for plans; of a cell's own statistics 2,000 cells, 500 for answers, 200 pooled): a Monte Carlo error of "
        "1.1 points a row (2.2, 3.4) and 0.2 to 0.4 for a mean over distributions. The standard error of every row is "
        "in the CSV. `--studies`, `--resamples`, `--seed` and `--sections` are arguments.\n",
    ]
    for statistic, group in table.groupby("statistic", sort=False):
        parts += _section(str(statistic), group)
    parts += _models(pd.read_csv(MODELS))
    parts += ["\n## What is printed without a table here\n", NOT_SIMULATED, ""]
    return "\n".join(parts)


def _models(table: pd.DataFrame) -> list[str]:
    """Return the section of the fitted models, which have a study of their own."""
    studies = int(table["studies"].iloc[0])
    shares = table.pivot_table(index="setting", columns="interval", values=["coverage", "refused"], sort=False)
    intervals = list(dict.fromkeys(table["interval"]))
    parts = [
        "\n## Mixed, penalised and Bayesian models\n",
        f"Made by `python -m analysis.models_coverage`, {studies} studies a setting: a Monte Carlo error of 3 points at "
        "95 %, so these rows show that nothing is grossly wrong and no more. In brackets, the share of studies that were "
        "refused. Where a model is hardly ever right all three odds ratios are too narrow: rows of `compare_models` by "
        "Firth's penalty say so. The interval of a question's accuracy lies inside (0, 1), and cannot hold that of a "
        "question which is always or never right.\n",
        f"| setting | {' | '.join(intervals)} |",
        "|---|" + "---|" * len(intervals),
    ]
    for setting in dict.fromkeys(table["setting"]):
        cells = [
            f"{100 * shares.loc[setting, ('coverage', name)]:.0f} ({100 * shares.loc[setting, ('refused', name)]:.0f} %)"
            for name in intervals
        ]
        parts.append(f"| {setting} | {' | '.join(cells)} |")
    return parts


def _section(statistic: str, group: pd.DataFrame) -> list[str]:
    sizes = sorted(group["n"].unique())
    name = "N" if set(group["section"]) <= _OF_CELLS else "Q"
    plan = statistic.startswith("plan")
    middle = 10 if 10 in sizes else sizes[len(sizes) // 2]
    head = ["method", *(f"{name} = {n}" for n in sizes), f"width at {middle}", "n/a"]
    parts = [
        f"\n## {TITLES.get(statistic, statistic[:1].upper() + statistic[1:])}\n",
        VERDICTS.get(statistic, ""),
        "",
    ]
    parts += [f"| {' | '.join(head)} |", "|---|" + "---|" * (len(head) - 1)]
    for method, rows in group.groupby("method", sort=False):
        counted = _counted(rows)
        cells = []
        for n in sizes:
            at = counted.loc[counted["n"] == n, "coverage"]
            cells.append(f"{100 * at.mean():.1f} ({100 * at.min():.1f})" if len(at) else "–")
        width = counted.loc[counted["n"] == middle, "mean_width"]
        shown = f"{width.mean():.3g}" if len(width) and not plan else "–"
        parts.append(f"| {method} | {' | '.join(cells)} | {shown} | {100 * rows['not_available'].max():.0f} % |")
    overall = group[group["distribution"].str.startswith("mean over")]
    if len(overall):
        parts += ["", "Mean over all rates p from 0 to 1:", ""]
        parts += ["| method | " + " | ".join(f"N = {n}" for n in sizes) + " | mean width at N = 10 |"]
        parts += ["|---|" + "---|" * (len(sizes) + 1)]
        for method, rows in overall.groupby("method", sort=False):
            at = rows.set_index("n")
            cells = [_percent(at["coverage"].get(n)) for n in sizes]
            width = f"{at.loc[10, 'mean_width']:.3f}" if 10 in at.index else "–"
            parts.append(f"| {method} | {' | '.join(cells)} | {width} |")
    runs = group["distribution"].str.extract(r"^(N = [^:]*): ")[0]
    default = next((m for (s, m) in DEFAULTS.values() if statistic in s), None)
    if runs.nunique() > 1 and default is not None:
        parts += _by_runs(group.assign(runs=runs), default, sizes)
    return parts


def _by_runs(group: pd.DataFrame, default: str, sizes: list[int]) -> list[str]:
    own = _counted(group[group["method"] == default])
    parts = ["", f"{default}, by the number of runs N:", ""]
    parts += ["| runs | " + " | ".join(f"Q = {n}" for n in sizes) + " |", "|---|" + "---|" * len(sizes)]
    for runs, rows in own.groupby("runs", sort=False):
        cells = []
        for n in sizes:
            at = rows.loc[rows["n"] == n, "coverage"]
            cells.append(f"{100 * at.mean():.1f} ({100 * at.min():.1f})" if len(at) else "–")
        parts.append(f"| {runs} | {' | '.join(cells)} |")
    return parts


def _percent(share: float | None) -> str:
    return "–" if share is None or pd.isna(share) else f"{100 * share:.1f}"
