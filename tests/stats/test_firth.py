"""Firth's penalty: R's values, a likelihood written down again, and its place in the comparison of models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special, stats

from dsqa.errors import StatisticsError
from dsqa.stats import compare_models, firth

RIGHT = [(5, 0), (3, 0), (1, 0), (4, 0)]


def never_right() -> pd.DataFrame:
    """Model b is never right."""
    cells = [(f"q{q + 1}", m, k) for q, ks in enumerate(RIGHT) for m, k in zip("ab", ks, strict=True)]
    rows = [(question, m, r < k, r) for question, m, k in cells for r in range(6)]
    return pd.DataFrame(rows, columns=["question_id", "model", "accuracy", "run"]).astype({"accuracy": int})


def test_estimates_are_those_of_r():
    """brglm2 0.9, brglmFit(type = "AS_mean", epsilon = 1e-12): Firth's adjusted scores."""
    fit = firth("accuracy ~ model + question_id", never_right())
    want = [1.291323800838, -4.200364542414, -1.281119036073, -2.586291351910, -0.688609332016]
    assert list(fit.coefficients.values()) == pytest.approx(want, abs=1e-8)
    plain = firth("accuracy ~ model", never_right())
    assert list(plain.coefficients.values()) == pytest.approx([0.160342650075, -4.052162948186], abs=1e-8)


def test_two_proportions_by_hand():
    """A saturated model adds half a run to each count."""
    fit = firth("accuracy ~ model", never_right())
    assert fit.coefficients["Intercept"] == pytest.approx(special.logit(13.5 / 25))
    assert sum(fit.coefficients.values()) == pytest.approx(special.logit(0.5 / 25))


def _penalised(beta: np.ndarray) -> float:
    x, right, runs = np.array([[1.0, 0], [1, 1]]), np.array([13, 0]), np.array([24, 24])
    p = special.expit(x @ beta)
    information = x.T @ np.diag(runs * p * (1 - p)) @ x
    return float((right * np.log(p) + (runs - right) * np.log1p(-p)).sum() + np.log(np.linalg.det(information)) / 2)


def test_ends_and_p_are_those_of_the_profile():
    fit = firth("accuracy ~ model", never_right())
    top = _penalised(np.array(list(fit.coefficients.values())))
    assert fit.log_likelihood == pytest.approx(top)

    def profile(effect: float) -> float:
        def along(intercept: float) -> float:
            return -_penalised(np.array([intercept, effect]))

        found = optimize.minimize_scalar(along, bounds=(-8, 8), method="bounded")
        return -found.fun

    _, ci, p = fit.contrast({"model[T.b]": 1.0})
    for end in (ci.low, ci.high):
        assert 2 * (top - profile(end)) == pytest.approx(stats.chi2.isf(0.05, 1), abs=1e-5)
    assert p == pytest.approx(stats.chi2.sf(2 * (top - profile(0.0)), 1), rel=1e-4)


def test_without_separation_it_is_near_the_ordinary_fit():
    table = never_right().assign(accuracy=lambda t: ((t["run"] + (t["model"] == "b")) % 3 == 0).astype(int))
    p = table.groupby("model")["accuracy"].mean()
    fit = firth("accuracy ~ model", table)
    assert fit.coefficients["model[T.b]"] == pytest.approx(special.logit(p["b"]) - special.logit(p["a"]), abs=0.05)


def test_counts_stand_for_their_runs():
    table = never_right()
    counts = table.groupby(["question_id", "model", "accuracy"]).size().rename("n").reset_index()
    a, b = firth("accuracy ~ model", table), firth("accuracy ~ model", counts, runs="n")
    assert a.coefficients == pytest.approx(b.coefficients)
    assert (a.n, b.n) == (48, 48)


def test_separated_models_are_compared_by_the_penalised_fit():
    row = compare_models(never_right(), seed=1, resamples=199).rows("odds ratio within a question").iloc[0]
    fit = firth("accuracy ~ model + question_id", never_right())
    value, ci, p = fit.contrast({"model[T.b]": -1.0})
    want = np.exp([value, ci.low, ci.high]).tolist()
    assert list(row[["estimate", "low", "high"]]) == pytest.approx(want, rel=1e-6)
    assert row["p"] == pytest.approx(p)
    assert "Firth" in row["method"]
    assert "separated" in row["note"]


@pytest.mark.parametrize("seed", range(10))
def test_it_always_has_an_answer(seed):
    rng = np.random.default_rng(seed)
    right = rng.binomial(3, rng.choice([0, 0.02, 0.5, 1], (5, 2)))
    rows = [(q, m, int(r < right[q, m])) for q in range(5) for m in range(2) for r in range(3)]
    table = pd.DataFrame(rows, columns=["question_id", "model", "y"])
    if table["y"].nunique() < 2:
        with pytest.raises(StatisticsError, match="nothing to explain"):
            firth("y ~ model", table)
        return
    value, ci, p = firth("y ~ model + C(question_id)", table).contrast({"model": 1.0})
    assert ci.low < value < ci.high
    assert 0 <= p <= 1
