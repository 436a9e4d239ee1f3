"""Turn analysis/results/coverage.csv into docs/coverage.md."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

__all__ = ["PAGE", "page_text", "write_page"]

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
TITLES = {
    "accuracy": "Accuracy of a cell",
    "pass@5": "pass@5",
    "pass^5": "pass^5 (all five right)",
    "instability": "Normalised instability σ̄ of a cell",
    "modal_share": "Share of the commonest answer",
    "entropy": "Entropy of the answers",
    "gini_simpson": "Gini–Simpson index of the answers",
    "mean over questions": "A mean over questions (N is the number of questions)",
    "pooled accuracy": "Accuracy pooled over questions",
}
VERDICTS = {
    "accuracy": (
        "Default: **Wilson**. Wilson and Jeffreys are both within a point of 95 % on average over all rates at "
        "every N, and neither is better throughout; Wilson is the default because at no rate tried does it fall "
        "below 90 %, and it needs no prior. Single rates near 0 and 1 fall below 95 %, as with any interval that "
        "is not conservative, since only a few counts are possible. Clopper–Pearson never falls below 95 % and is "
        "the choice where that must be promised. The bootstraps know nothing of runs that are all alike and are "
        "not used."
    ),
    "pass@5": ("Wilson mapped through a monotone function: the coverage is that of the interval for p."),
    "pass^5": ("As pass@5."),
    "instability": (
        "Default: **exact for two distinct scores, BCa for more, the upper end raised to what unseen outcomes "
        "allow** (`dsqa/stats/dispersion.py`). It errs on the side of saying too little: above 97 % for cells "
        "that hardly vary, where no interval from a few runs can do better without claiming to know outcomes that "
        "it has not seen. The bare bootstraps fall far below 95 % there, which is why none of them is the "
        "default."
    ),
    "modal_share": (
        "Default: **Clopper–Pearson, and an exact bound where all answers are equal** (`dsqa/stats/answers.py`). "
        "Conservative, since the commonest answer is chosen after the fact."
    ),
    "entropy": (
        "No interval here keeps 95 % at N below 30: the entropy of few runs is too low, since answers that did "
        "not come are not in it. Read it as a description there."
    ),
    "gini_simpson": (
        "Default: basic bootstrap, with an exact bound where all answers are equal. Below 95 % at small N, as the "
        "entropy but less so."
    ),
    "mean over questions": (
        "Default: **studentised bootstrap over questions** (`dsqa/stats/groups.py`). It alone covers 93 % or more "
        "at every number of questions, and is somewhat wide with ten to twenty; percentile, basic, Bayesian and "
        "BCa bootstraps and Student's t are too narrow with ten questions or fewer. Where too few questions "
        "differ for it, Student's t takes its place."
    ),
    "pooled accuracy": (
        "The beta-binomial is for questions that differ; Wilson on all runs pretends that they do not, and fails. "
        "Slightly below 95 % with 20 questions: the profile likelihood is a large-sample interval."
    ),
}


def write_page(table: pd.DataFrame) -> None:
    """Write docs/coverage.md."""
    PAGE.write_text(page_text(table), encoding="utf-8")


def page_text(table: pd.DataFrame) -> str:
    """Return the page: per statistic a table of coverage by method and N, lowest first to be seen."""
    parts = [
        "# Coverage of every interval\n",
        "Made by `python -m analysis.coverage` from `analysis/results/coverage.csv`; do not edit. Nominal "
        "coverage is 95 %. Each entry is the mean over the distributions tried and, in brackets, the lowest "
        "of them. Intervals that were not given (a bootstrap of equal values) are left out of the coverage; "
        "the column *n/a* is their largest share.\n",
    ]
    for statistic, group in table.groupby("statistic", sort=False):
        sizes = sorted(group["n"].unique())
        parts.append(f"\n## {TITLES.get(str(statistic), str(statistic))}\n")
        parts.append(VERDICTS.get(str(statistic), "") + "\n")
        parts.append("| method | " + " | ".join(f"N = {n}" for n in sizes) + " | n/a |")
        parts.append("|---|" + "---|" * (len(sizes) + 1))
        for method, rows in group.groupby("method", sort=False):
            single = rows[~rows["distribution"].str.startswith("mean over")]
            cells = []
            for n in sizes:
                at = single.loc[single["n"] == n, "coverage"].dropna()
                cells.append(f"{100 * at.mean():.1f} ({100 * at.min():.1f})" if len(at) else "–")
            parts.append(f"| {method} | " + " | ".join(cells) + f" | {100 * rows['not_available'].max():.0f} % |")
        overall = group[group["distribution"].str.startswith("mean over")]
        if len(overall):
            parts.append("\nMean over all rates p from 0 to 1:\n")
            parts.append("| method | " + " | ".join(f"N = {n}" for n in sizes) + " | mean width at N = 10 |")
            parts.append("|---|" + "---|" * (len(sizes) + 1))
            for method, rows in overall.groupby("method", sort=False):
                at = rows.set_index("n")
                cells = [_percent(at.loc[n, "coverage"]) for n in sizes]
                width = f"{at.loc[10, 'mean_width']:.3f}" if 10 in at.index else "–"
                parts.append(f"| {method} | " + " | ".join(cells) + f" | {width} |")
    return "\n".join(parts) + "\n"


def _percent(share: float) -> str:
    return "–" if pd.isna(share) else f"{100 * share:.1f}"
