"""`glmm` over many studies: at the maximum or refused, and never somewhere in between."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special

from analysis.mixed_reference import likelihood, reference, simulated
from dsqa.errors import StatisticsError
from dsqa.stats import ClusteredFit, compare_models, gee, glmm


def runs_of(right, runs, labels="ab") -> pd.DataFrame:
    """A row per run from a table of counts, shape (questions, labels)."""
    rows = [
        (f"q{q}", label, int(r < k))
        for q, counts in enumerate(right)
        for label, k in zip(labels, counts, strict=True)
        for r in range(runs)
    ]
    return pd.DataFrame(rows, columns=["question_id", "model", "accuracy"])


def theta(fit: ClusteredFit) -> np.ndarray:
    return np.array([*fit.coefficients.values(), math.log(fit.spread)])


@pytest.mark.parametrize("seed", range(1001, 1011))
def test_the_fit_is_where_an_independent_likelihood_is_largest(seed):
    table = simulated(seed)
    fit = glmm("accuracy ~ model", table)
    loss, place = likelihood(table), theta(fit)
    assert -loss(place) == pytest.approx(fit.log_likelihood, abs=1e-5)
    errors = np.array([*fit.errors.values(), 0.3])
    # A hundredth of a standard error off is lower, in every direction, by about what a parabola says.
    for step in np.diag(errors) / 100:
        drops = loss(place + step) - loss(place), loss(place - step) - loss(place)
        assert min(drops) > 0
        assert drops[0] == pytest.approx(drops[1], rel=0.1)


def test_the_likelihood_is_that_of_adaptive_integration():
    """scipy's own quadrature, question by question, also of one always right and one always wrong."""
    right = [[10, 10], [0, 0], [4, 7], [9, 10], [1, 2], [5, 5]]
    fit = glmm("accuracy ~ model", runs_of(right, 10))
    first, change = fit.coefficients.values()
    total = 0.0
    for counts in right:

        def density(u, counts=counts):
            p = special.expit(np.array([first, first + change]) + fit.spread * u)
            return (
                np.prod(p**counts * (1 - p) ** (10 - np.array(counts)))
                * math.exp(-u * u / 2)
                / math.sqrt(2 * math.pi)
            )

        total += math.log(integrate.quad(density, -9, 9, epsabs=0, epsrel=1e-10, limit=500, points=[-2, 0, 2])[0])
    assert fit.log_likelihood == pytest.approx(total, abs=1e-7)


def test_questions_always_right_or_wrong_are_no_separation():
    right = (
        [[30, 30]] * 6 + [[0, 0]] * 6 + [[20, 12], [25, 18], [9, 4], [15, 11], [28, 25], [6, 1], [22, 19], [17, 9]]
    )
    table = runs_of(right, 30)
    fit = glmm("accuracy ~ model", table)
    place, value = reference(table)
    assert fit.log_likelihood == pytest.approx(value, abs=1e-6)
    assert fit.coefficients["model[T.b]"] == pytest.approx(place[1], abs=1e-4)
    # Questions that tell nothing of the difference leave it where the others put it.
    only = glmm("accuracy ~ model", runs_of(right[12:], 30))
    assert fit.coefficients["model[T.b]"] == pytest.approx(only.coefficients["model[T.b]"], rel=0.02)
    row = compare_models(table, seed=1, resamples=199).rows("odds ratio within a question").iloc[0]
    value, ci, p = fit.contrast({"model[T.b]": -1.0})
    assert [row["estimate"], row["low"], row["high"]] == pytest.approx(
        [math.exp(v) for v in (value, ci.low, ci.high)]
    )
    assert row["p"] == pytest.approx(p)
    assert 0 < p < 0.001


@pytest.mark.parametrize(
    ("right", "runs", "message"),
    [
        ([[5, 0], [3, 0], [1, 0], [4, 0]], 6, "separated by model"),
        ([[5, 6], [3, 6], [1, 6], [4, 6]], 6, "separated by model"),
        ([[6, 0], [6, 0], [6, 0]], 6, "separated by model"),
        ([[1, 1], [0, 0], [1, 0], [1, 0]], 1, "no finite estimate"),
        ([[6, 6], [0, 0], [6, 6]], 6, "no finite estimate"),
    ],
)
def test_what_has_no_finite_estimate_is_refused(right, runs, message):
    with pytest.raises(StatisticsError, match=message):
        glmm("accuracy ~ model", runs_of(right, runs))


def test_separation_by_a_level_of_a_second_predictor_names_it():
    other = runs_of([[6, 6], [6, 6], [6, 6]], 6).assign(t=1)
    table = pd.concat([runs_of([[3, 2], [4, 1], [5, 4]], 6).assign(t=0), other])
    with pytest.raises(StatisticsError, match=r"separated by C\(t\)"):
        glmm("accuracy ~ model + C(t)", table)


def test_a_model_that_is_once_right_is_not_separated():
    fit = glmm("accuracy ~ model", runs_of([[5, 0], [3, 1], [1, 0], [4, 0]], 6))
    assert np.isfinite(fit.covariance).all()


@pytest.mark.parametrize("right", [[[3, 3], [3, 3], [3, 3]], [[3, 2], [3, 2], [3, 2], [3, 2]]])
def test_equal_questions_have_no_spread(right):
    fit = glmm("accuracy ~ model", runs_of(right, 6))
    assert fit.spread == 0
    share = np.mean(right, axis=0) / 6
    assert fit.coefficients["model[T.b]"] == pytest.approx(
        special.logit(share[1]) - special.logit(share[0]), abs=1e-9
    )


def test_units_of_a_predictor_change_nothing_but_its_units():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"question_id": np.repeat(np.arange(12), 40), "tokens": rng.integers(100, 9000, 480)})
    p = special.expit(rng.normal(0, 1, 12)[table["question_id"]] + (table["tokens"] - 4000) / 3000)
    table["y"] = (rng.random(480) < p).astype(int)
    plain, scaled = glmm("y ~ tokens", table), glmm("y ~ tokens", table.assign(tokens=table["tokens"] * 1e-6))
    assert scaled.coefficients["tokens"] * 1e-6 == pytest.approx(plain.coefficients["tokens"], rel=1e-7)
    assert scaled.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-7)


def test_ends_beyond_floats_are_infinite():
    fit = ClusteredFit("y ~ x", "any", 9, 0, 3, {"x": 700.0}, np.array([[1e6]]), math.inf, 1.0, math.nan)
    row = fit.table().iloc[0]
    assert (row["odds_ratio_low"], row["odds_ratio_high"]) == (0.0, math.inf)


@pytest.mark.parametrize("seed", range(12))
def test_small_odd_studies_are_fitted_or_refused(seed):
    """Whatever the counts: finite numbers, or a reason."""
    rng = np.random.default_rng([seed, 77])
    runs = int(rng.integers(1, 5))
    right = rng.binomial(runs, rng.choice([0, 0.05, 0.5, 1], (int(rng.integers(2, 7)), 2)))
    for fit in (glmm, gee):
        try:
            made = fit("accuracy ~ model", runs_of(right, runs))
        except StatisticsError:
            continue
        table = made.table()
        assert np.isfinite(table[["estimate", "se", "p"]]).all(axis=None)
        assert (table["se"] > 0).all()


def test_one_run_of_each_question_tells_no_likeness_of_runs():
    table = runs_of([[1, 0], [0, 1], [1, 1], [0, 0]], 1)
    table["question_id"] = [f"q{i}" for i in range(8)]
    with pytest.raises(StatisticsError, match="how alike"):
        gee("accuracy ~ model", table)
    assert gee("accuracy ~ model", table, correlation="independence").spread == 0


def test_a_coefficient_that_one_cluster_decides_is_refused():
    table = runs_of([[2, 1], [3, 4], [1, 2], [4, 2], [5, 3]], 6).assign(only=lambda t: (t["question_id"] == "q1") * 1)
    with pytest.raises(StatisticsError, match="one cluster alone"):
        gee("accuracy ~ only", table, correlation="independence")


_ELSEWHERE = """
from analysis.mixed_reference import simulated
from dsqa.stats import glmm
for seed in (1004, 1009):
    fit = glmm("accuracy ~ model", simulated(seed))
    print(*fit.coefficients.values(), *fit.errors.values(), fit.spread, fit.log_likelihood)
"""


@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="kernels named are x86-64's")
def test_another_processor_gives_the_same_numbers():
    results = []
    for kernel, off in (("Haswell", "X86_V4"), ("Prescott", "X86_V3 X86_V4")):
        environment = os.environ | {"OPENBLAS_CORETYPE": kernel, "NPY_DISABLE_CPU_FEATURES": off}
        command = [sys.executable, "-W", "ignore", "-c", _ELSEWHERE]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        results.append([float(word) for word in done.stdout.split()])
    assert results[0] == pytest.approx(results[1], rel=1e-6)
