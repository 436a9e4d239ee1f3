"""Is `glmm` at the maximum? Simulated studies, with questions always right and always wrong, against brute force.

    python -m analysis.mixed_reference --seeds 1 2 … --out analysis/results/mixed_reference.csv [--glmer]

The reference shares nothing with `dsqa.stats.models`: each question's integral is a trapezoid sum over 1,601 points
of the random intercept from −8 to 8; the maximum is searched from three spreads with generic climbing, then without
derivatives (Nelder–Mead, restarted from its own end until nothing is gained). With `--glmer` (R and lme4 on the path)
R's `glmer(nAGQ = 25)` is asked too. A study's row holds the estimate of the last model against the first, its
standard error, and how far the log-likelihood is below the reference's; `refused` has the reason where there is none.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import optimize, special

from dsqa.errors import StatisticsError
from dsqa.stats import glmm
from dsqa.stats.interval import FloatArray

__all__ = ["compare", "likelihood", "main", "reference", "simulated"]

_U = np.linspace(-8, 8, 1601)
_GLMER = """
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1], stringsAsFactors = TRUE)
f <- suppressWarnings(suppressMessages(glmer(cbind(right, runs - right) ~ model + (1 | question_id), d, binomial,
  nAGQ = 25, control = glmerControl(optimizer = "bobyqa", tolPwrss = 1e-12, optCtrl = list(maxfun = 2e5)))))
cat(tail(fixef(f), 1), sqrt(VarCorr(f)$question_id[1]), "\\n")
"""


def simulated(seed: int) -> pd.DataFrame:
    """Return a study's runs: 5 to 60 questions, 2 to 4 models, 2 to 100 runs."""
    rng = np.random.default_rng([seed, 20261201])
    questions, models = int(rng.integers(5, 61)), int(rng.integers(2, 5))
    runs = int(rng.choice([2, 5, 10, 30, 100]))
    kind = rng.choice(3, questions, p=(0.7, 0.15, 0.15))
    effect = rng.normal(0, 0.7, models)
    ability = rng.normal(rng.normal(0, 1), rng.uniform(0.3, 3), questions)
    p = special.expit(ability[:, None] + effect)
    p[kind == 1], p[kind == 2] = 1.0, 0.0
    right = rng.random((questions, models, runs)) < p[..., None]
    index = np.indices(right.shape).reshape(3, -1)
    return pd.DataFrame(
        {
            "question_id": [f"q{q:02d}" for q in index[0]],
            "model": [f"m{m}" for m in index[1]],
            "run": index[2],
            "accuracy": right.reshape(-1).astype(int),
        }
    )


def _reference_loss(theta: FloatArray, right: FloatArray, runs: FloatArray) -> float:
    """Minus the log-likelihood of counts, shape (questions, models); θ is the first model, differences, ln σ."""
    fixed = theta[0] + np.concatenate([[0.0], theta[1:-1]])
    eta = fixed[:, None] + math.exp(min(theta[-1], 5.0)) * _U
    inside = right @ eta - runs @ np.logaddexp(0, eta) - _U**2 / 2
    return -float((special.logsumexp(inside, axis=1) + math.log((_U[1] - _U[0]) / math.sqrt(2 * math.pi))).sum())


def _counts(table: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    cells = table.pivot_table("accuracy", "question_id", "model", aggfunc=["sum", "count"])
    return cells["sum"].to_numpy(dtype=np.float64), cells["count"].to_numpy(dtype=np.float64)


def likelihood(table: pd.DataFrame) -> Callable[[FloatArray], float]:
    """Return minus the log-likelihood of a study's runs, as a function of (first model, differences, ln σ)."""
    right, runs = _counts(table)
    return lambda theta: _reference_loss(theta, right, runs)


def reference(table: pd.DataFrame) -> tuple[FloatArray, float]:
    """Return (first model, differences, σ) at the largest likelihood found by brute force, and that likelihood."""
    counts = _counts(table)
    starts = [np.append(np.zeros(counts[0].shape[1]), log_sigma) for log_sigma in (-0.7, 0.7, 1.8)]
    climbed = [optimize.minimize(_reference_loss, start, args=counts, method="L-BFGS-B") for start in starts]
    best = min(climbed, key=lambda found: float(found.fun))
    place, value = best.x, float(best.fun)
    gained = math.inf
    while gained > 1e-8:
        found = optimize.minimize(
            _reference_loss, place, args=counts, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9}
        )
        gained, place, value = value - float(found.fun), found.x, float(found.fun)
    return np.append(place[:-1], math.exp(place[-1])), -value


def _glmer(table: pd.DataFrame) -> tuple[float, float]:
    cells = table.groupby(["question_id", "model"])["accuracy"].agg(right="sum", runs="count").reset_index()
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder, "cells.csv"), Path(folder, "fit.R")
        cells.to_csv(data, index=False)
        script.write_text(_GLMER)
        done = subprocess.run(["Rscript", str(script), str(data)], capture_output=True, text=True, check=False)
    words = done.stdout.split()
    return (float(words[0]), float(words[1])) if len(words) == 2 else (math.nan, math.nan)


def compare(seed: int, *, glmer: bool = False) -> dict[str, object]:
    """Return one study's row."""
    table = simulated(seed)
    share = table.groupby("question_id")["accuracy"].mean()
    row: dict[str, object] = {
        "seed": seed,
        "questions": len(share),
        "models": table["model"].nunique(),
        "runs": int(table["run"].max()) + 1,
        "always_right": int((share == 1).sum()),
        "always_wrong": int((share == 0).sum()),
    }
    place, value = reference(table)
    row |= {"reference": place[-2], "reference_spread": place[-1], "reference_log_likelihood": value}
    try:
        fit = glmm("accuracy ~ model", table)
    except StatisticsError as reason:
        row["refused"] = reason.message
    else:
        row |= {"estimate": list(fit.coefficients.values())[-1], "spread": fit.spread}
        row |= {"se": list(fit.errors.values())[-1], "gap": value - fit.log_likelihood}
    if glmer:
        row["glmer"], row["glmer_spread"] = _glmer(table)
    return row


def main() -> None:
    """Write the table and print what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 81)))
    parser.add_argument("--out", type=Path, default=Path("analysis/results/mixed_reference.csv"))
    parser.add_argument("--glmer", action="store_true")
    given = parser.parse_args()
    names = ["seed", "questions", "models", "runs", "always_right", "always_wrong", "estimate", "reference", "se"]
    names += ["spread", "reference_spread", "reference_log_likelihood", "gap", "refused", "glmer", "glmer_spread"]
    table = pd.DataFrame([compare(seed, glmer=given.glmer) for seed in given.seeds]).reindex(columns=names)
    table.round(6).to_csv(given.out, index=False)
    fitted = table[table["refused"].isna()]
    off = ((fitted["estimate"] - fitted["reference"]).abs() / fitted["se"]).max()
    print(f"{len(fitted)} of {len(table)} studies fitted, {len(table) - len(fitted)} refused")
    gap = fitted["gap"]
    print(f"log-likelihood below the reference's by at most {gap.max():.2e}, above by at most {-gap.min():.2e}")
    print(f"estimates differ by at most {off:.2e} standard errors")
    if given.glmer:
        print(f"from glmer by at most {((fitted['estimate'] - fitted['glmer']).abs() / fitted['se']).max():.2e}")


if __name__ == "__main__":
    main()
