from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from dsqa.errors import StatisticsError
from dsqa.stats import variance_components
from dsqa.stats.variance import _reml, _sufficient

from .data import reference, study


def simulated(seed, sizes, q=1.0, qm=0.5, e=0.7):
    rng = np.random.default_rng(seed)
    rows = []
    for i, models in enumerate(sizes):
        u = rng.normal(0, np.sqrt(q))
        for j, n in enumerate(models):
            v = rng.normal(0, np.sqrt(qm))
            rows += [(f"q{i}", f"m{j}", 1 + u + v + rng.normal(0, np.sqrt(e))) for _ in range(n)]
    return pd.DataFrame(rows, columns=["question_id", "model", "score"])


def test_balanced_data_agree_with_the_closed_form_in_r():
    want, got = reference()["d_anova_closed_form"], variance_components(study())
    assert got.method == "REML, closed form"
    assert (got.question, got.question_model, got.residual) == pytest.approx(
        [want["variance"][name] for name in ("question", "question_model", "residual")], rel=1e-8
    )
    assert (got.icc_question, got.icc_cell, got.mean_se) == pytest.approx(
        (want["icc_question"], want["icc_question_plus_model"], want["se_intercept"]), rel=1e-8
    )


def test_agrees_with_lmer_as_far_as_lmer_goes():
    want, got = reference()["d_lmer_reml"], variance_components(study())
    assert got.log_likelihood == pytest.approx(want["logLik"], abs=1e-8)
    assert got.mean == pytest.approx(want["fixed"]["(Intercept)"], rel=1e-8)
    assert got.question == pytest.approx(want["variance"]["question_id"], rel=1e-4)


def test_question_only_agrees_with_r():
    got, want = variance_components(study(), model=None), reference()["d_anova_closed_form"]["question_only"]
    assert (got.question, got.residual, got.icc_question) == pytest.approx(
        (want["question"], want["residual"], want["icc"]), rel=1e-8
    )
    assert got.log_likelihood == pytest.approx(reference()["d_lmer_question_only_reml"]["logLik"], abs=1e-8)


def test_iteration_reaches_the_closed_form():
    data = study()
    cells = _sufficient(data[["question_id", "model"]].assign(value=data["score"]), ["question_id", "model"])
    want = reference()["d_anova_closed_form"]["variance"]
    assert list(_reml(cells, nested=True)) == pytest.approx(
        [want["question"], want["question_model"], want["residual"]], rel=1e-6
    )


def test_unbalanced_likelihood_by_the_full_covariance_matrix():
    """The restricted log-likelihood from the N × N matrix, and that no neighbour of the estimate has more."""
    data = simulated(3, [(3, 5), (2, 2, 4), (6,), (1, 3), (4, 4)])
    got = variance_components(data)
    assert got.method == "REML"
    same_q = (data["question_id"].to_numpy()[:, None] == data["question_id"].to_numpy()).astype(float)
    same_cell = same_q * (data["model"].to_numpy()[:, None] == data["model"].to_numpy())
    y, one = data["score"].to_numpy(), np.ones(len(data))

    def restricted(question, model, residual):
        v = question * same_q + model * same_cell + residual * np.eye(len(y))
        inverse = np.linalg.inv(v)
        precision = one @ inverse @ one
        mean = one @ inverse @ y / precision
        r = y - mean
        constant = (len(y) - 1) * np.log(2 * np.pi)
        return -0.5 * (np.linalg.slogdet(v)[1] + r @ inverse @ r + np.log(precision) + constant)

    best = restricted(got.question, got.question_model, got.residual)
    assert got.log_likelihood == pytest.approx(best, abs=1e-9)
    for factor in (0.97, 1.03):
        assert restricted(got.question * factor, got.question_model, got.residual) < best
        assert restricted(got.question, got.question_model * factor, got.residual) < best
        assert restricted(got.question, got.question_model, got.residual * factor) < best


def test_a_component_that_would_be_negative_is_zero():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "question_id": np.repeat(["a", "b", "c", "d"], 20),
            "model": np.tile(["m", "n"], 40),
            "score": rng.normal(size=80),
        }
    )
    data["score"] -= data.groupby("question_id")["score"].transform("mean")
    got = variance_components(data)
    assert got.question == pytest.approx(0, abs=1e-6)
    assert got.residual > 0.5


def test_known_components_come_back():
    got = variance_components(simulated(5, [(5,) * 6] * 150))
    assert (got.question, got.question_model, got.residual) == pytest.approx((1.0, 0.5, 0.7), rel=0.2)
    assert sum(got.shares().values()) == pytest.approx(1)


def test_row_order_and_labels_do_not_matter():
    data = simulated(3, [(3, 5), (2, 2, 4), (6,), (1, 3)])
    other = data.sample(frac=1, random_state=1).assign(model=lambda t: "x" + t["model"])
    a, b = variance_components(data), variance_components(other)
    assert (a.question, a.residual) == pytest.approx((b.question, b.residual), rel=1e-6)


def test_planned_studies():
    got = variance_components(study())
    assert got.standard_error(questions=20, models=3, runs=120) == pytest.approx(got.mean_se, rel=1e-10)
    assert got.standard_error(questions=80, models=3, runs=120) == pytest.approx(got.mean_se / 2, rel=1e-10)
    by_hand = got.question / (got.question + got.question_model / 2 + got.residual / 20)
    assert got.reliability(models=2, runs=10) == pytest.approx(by_hand)
    # More runs of the same questions cannot do what more questions do.
    assert got.standard_error(questions=20, runs=10**9) > np.sqrt(got.question / 20)


def test_standard_error_of_the_mean_is_that_of_the_question_means():
    got = variance_components(study())
    means = study().groupby("question_id")["score"].mean()
    assert got.mean_se == pytest.approx(scipy_stats.sem(means), rel=1e-10)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "m", 1), ("a", "m", 2)], "at least two questions"),
        ([("a", "m", 1), ("b", "m", 2), ("a", "n", 1), ("b", "n", 3)], "no cell has two runs"),
        ([("a", "m", 1), ("a", "m", 2), ("b", "m", 2), ("b", "m", 3)], "no question has two models"),
        ([("a", "m", 1), ("a", "m", 1), ("b", "m", 2), ("b", "n", 2)], "never differ"),
        ([("a", None, 1), ("a", "m", 1), ("b", "m", 2), ("b", "n", 2)], "a run has no"),
    ],
)
def test_what_cannot_be_estimated_is_refused(rows, message):
    with pytest.raises(StatisticsError, match=message):
        variance_components(pd.DataFrame(rows, columns=["question_id", "model", "score"]))


def test_missing_scores_are_left_out():
    data = study()
    data.loc[data.index[:10], "score"] = np.nan
    assert variance_components(data).runs == len(data) - 10


def test_planning_for_nothing_is_refused():
    with pytest.raises(StatisticsError, match="at least 1"):
        variance_components(study()).standard_error(questions=0)
