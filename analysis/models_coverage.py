"""How often do the intervals of the three models of accuracy hold the truth? Mixed, penalised, Bayesian.

    python -m analysis.models_coverage [--studies 100] [--seed 1] [--out analysis/results/models_coverage.csv]

Two models that differ by a fixed log odds ratio within every question, as all three suppose; questions with normal
abilities, some always right and some always wrong besides. Covered is the odds ratio (`glmm`, Wald; `firth` with an
effect of each question, profile; `hierarchical`) and each question's accuracy (`hierarchical`, mean over questions).
What is refused is counted apart.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from dsqa.errors import StatisticsError
from dsqa.stats import firth, glmm, hierarchical

__all__ = ["SETTINGS", "coverage", "main"]

# questions, runs, log odds ratio of b against a, share of questions always right and always wrong each, ability
SETTINGS = {
    "12 questions, 5 runs": (12, 5, -0.8, 0.0, 0.0),
    "20 questions, 10 runs, 30 % always alike": (20, 10, -0.8, 0.15, 0.0),
    "20 questions, 10 runs, no difference": (20, 10, 0.0, 0.15, 0.0),
    "10 questions, 5 runs, b hardly ever right": (10, 5, -3.0, 0.0, -1.5),
}
_FACTORS = ("model",)


def _study(
    setting: tuple[int, int, float, float, float], rng: np.random.Generator
) -> tuple[pd.DataFrame, np.ndarray]:
    questions, runs, effect, share, mean = setting
    ability = rng.normal(mean, 1.5, questions)
    kind = rng.choice(3, questions, p=(1 - 2 * share, share, share))
    p = special.expit(ability[:, None] + np.array([0.0, effect]))
    p[kind == 1], p[kind == 2] = 1.0, 0.0
    right = rng.random((questions, 2, runs)) < p[..., None]
    q, m, _ = (index.reshape(-1) for index in np.indices(right.shape))
    table = pd.DataFrame({"question_id": [f"q{i:02d}" for i in q], "model": np.array(["a", "b"])[m]})
    return table.assign(accuracy=right.reshape(-1).astype(int)), p.mean(axis=1)


def coverage(name: str, studies: int, seed: int) -> pd.DataFrame:
    """Return a setting's rows: method, coverage, median width (log odds or accuracy), share refused."""
    setting = SETTINGS[name]
    truth = setting[2]
    found: dict[str, list[tuple[float, float]]] = {"glmm": [], "firth": [], "hierarchical": [], "questions": []}
    refused = dict.fromkeys(found, 0)
    for i in range(studies):
        rng = np.random.default_rng([seed, i])
        table, shares = _study(setting, rng)
        for method in ("glmm", "firth"):
            try:
                if method == "glmm":
                    ends = glmm("accuracy ~ model", table).contrast({"model[T.b]": 1.0})[1]
                else:
                    ends = firth("accuracy ~ model + question_id", table).contrast({"model[T.b]": 1.0})[1]
            except StatisticsError:
                refused[method] += 1
                continue
            found[method].append((float(truth in ends), ends.width))
        try:
            fit = hierarchical(table, rng=rng, factors=_FACTORS, draws=1000)
        except StatisticsError:
            refused["hierarchical"] += 1
            refused["questions"] += 1
            continue
        row = fit.differences.iloc[0]
        # The table has a against b; the truth is b against a.
        low, high = -math.log(row["odds_ratio_high"]), -math.log(row["odds_ratio_low"])
        found["hierarchical"].append((float(low <= truth <= high), high - low))
        asked = fit.questions.sort_values("question")
        inside = (asked["low"].to_numpy() <= shares) & (shares <= asked["high"].to_numpy())
        found["questions"].append((float(inside.mean()), float((asked["high"] - asked["low"]).median())))
    what = {
        "glmm": "mixed model, Wald",
        "firth": "Firth, effects of questions, profile",
        "hierarchical": "hierarchical, odds ratio",
        "questions": "hierarchical, a question's accuracy",
    }
    rows = []
    for method, pairs in found.items():
        held, width = np.array(pairs).T if pairs else (np.array([np.nan]), np.array([np.nan]))
        rows.append((name, what[method], studies, refused[method] / studies, held.mean(), float(np.median(width))))
    return pd.DataFrame(rows, columns=["setting", "interval", "studies", "refused", "coverage", "median_width"])


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("analysis/results/models_coverage.csv"))
    given = parser.parse_args()
    tables = []
    for name in SETTINGS:
        tables.append(coverage(name, given.studies, given.seed))
        print(tables[-1].to_string(index=False), flush=True)
        pd.concat(tables).round(4).to_csv(given.out, index=False)


if __name__ == "__main__":
    main()
