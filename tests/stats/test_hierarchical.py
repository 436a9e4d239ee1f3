"""The hierarchical model: against brute force, and in what it must do to questions and priors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from dsqa.errors import StatisticsError
from dsqa.stats import Priors, glmm, hierarchical, prior_sensitivity
from dsqa.stats.models.families import Cells, NormalScores, RightOrWrong


def study(seed: int, questions: int = 12, runs: int = 10, spread: float = 1.5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    ability = rng.normal(0, spread, questions)
    ability[0], ability[1] = 40, -40
    rows = [
        (f"q{q:02d}", m, t, int(rng.random() < special.expit(ability[q] + effect + heat)))
        for q in range(questions)
        for m, effect in (("a", 0.0), ("b", -0.8))
        for t, heat in ((0.2, 0.1), (1.0, -0.1))
        for _ in range(runs)
    ]
    return pd.DataFrame(rows, columns=["question_id", "model", "temperature", "accuracy"])


def test_it_agrees_with_brute_force():
    """One factor of no levels: the posterior of μ, σ on a fine grid, with its own integration."""
    table = study(3)
    fit = hierarchical(table, rng=np.random.default_rng(1), factors=(), draws=3000)
    right = table.groupby("question_id")["accuracy"].sum().to_numpy()
    mu, sigma, u = np.linspace(-3, 3, 61), np.exp(np.linspace(-1.5, 3.5, 81)), np.linspace(-6, 6, 481)
    log = np.zeros((61, 81))
    for i, m in enumerate(mu):
        eta = m + sigma[:, None] * u
        inside = right[:, None, None] * eta - 40 * np.logaddexp(0, eta) - u**2 / 2
        log[i] = special.logsumexp(inside, axis=2).sum(axis=0)
    log += stats.norm.logpdf(mu, 0, 2.5)[:, None] + stats.t.logpdf(sigma / 2.5, 4) + np.log(sigma)
    weight = np.exp(log - log.max()).sum(axis=0)
    weight /= weight.sum()
    mean = float(weight @ sigma)
    sd = float(np.sqrt(weight @ (sigma - mean) ** 2))
    assert fit.spread[0] == pytest.approx(mean, abs=4 * sd / np.sqrt(fit.effective_draws))
    reached = np.cumsum(weight)
    assert fit.spread[1] == pytest.approx(sigma[np.searchsorted(reached, 0.025)], rel=0.1)
    assert fit.spread[2] == pytest.approx(sigma[np.searchsorted(reached, 0.975)], rel=0.15)


@pytest.mark.parametrize("family", [RightOrWrong, NormalScores])
def test_gradients_are_those_of_the_values(family):
    rng = np.random.default_rng(2)
    x = np.array([[1.0, 1, 0], [1, 0, 1]])
    runs = rng.integers(0, 9, (6, 2)).astype(float)
    total = rng.binomial(runs.astype(int), 0.4).astype(float)
    made = family(Cells(x, runs, total, float(total.sum())))
    theta = np.array([0.3, 0.2, -0.4, 0.1, *([-0.6] if made.extra else [])])
    value, gradient = made.value(theta)
    assert value == made.draw(theta, rng)[0]
    steps = 1e-6 * np.eye(len(theta))
    slopes = [(made.value(theta + e)[0] - made.value(theta - e)[0]) / 2e-6 for e in steps]
    assert gradient == pytest.approx(slopes, rel=1e-5)


def test_with_much_data_it_is_the_likelihood():
    table = study(4, questions=30, runs=20)
    fit = hierarchical(table, rng=np.random.default_rng(1), priors=Priors(20, 20, 20))
    likely, ci, _ = glmm("accuracy ~ model + C(temperature)", table).contrast({"model[T.b]": -1.0})
    row = fit.differences.iloc[0]
    assert np.log(row["odds_ratio"]) == pytest.approx(likely, abs=0.03)
    assert np.log(row["odds_ratio_low"]) == pytest.approx(ci.low, abs=0.06)
    assert np.log(row["odds_ratio_high"]) == pytest.approx(ci.high, abs=0.06)


def test_questions_are_shrunken_and_ranked():
    questions = hierarchical(study(5, runs=2), rng=np.random.default_rng(1)).questions.set_index("question")
    assert questions.loc["q00", "observed"] == 1
    assert questions.loc["q01", "observed"] == 0
    assert 0.8 < questions.loc["q00", "estimate"] < 1
    assert 0 < questions.loc["q01", "estimate"] < 0.2
    assert (questions["low"] <= questions["estimate"]).all()
    assert (questions["estimate"] <= questions["high"]).all()
    assert (questions["rank_low"] <= questions["rank"]).all()
    assert (questions["rank"] <= questions["rank_high"]).all()
    assert questions["rank"].mean() == pytest.approx((len(questions) + 1) / 2)
    # Less is known of ranks from fewer runs.
    many = hierarchical(study(5, runs=40), rng=np.random.default_rng(1)).questions
    assert (many["rank_high"] - many["rank_low"]).mean() < (questions["rank_high"] - questions["rank_low"]).mean()


def test_tighter_priors_pull_levels_together():
    table = prior_sensitivity(study(6, runs=2), scales=(0.1, 1.0, 4.0), draws=1000)
    gaps = table[table["factor"] == "model"].set_index("prior_scale")["estimate"].abs()
    assert gaps[0.1] < gaps[1.0] < gaps[4.0] * 1.05


def test_scores_are_pooled_too():
    rng = np.random.default_rng(7)
    levels = rng.normal(0, 0.5, 20)
    rows = [
        (q, m, 1.5 + levels[q] + gap) for q in range(20) for m, gap in (("a", 0.2), ("b", -0.2)) for _ in range(10)
    ]
    table = pd.DataFrame(rows, columns=["question_id", "model", "score"])
    table["score"] += rng.normal(0, 0.4, len(table))
    fit = hierarchical(table, rng=np.random.default_rng(1), measure="score")
    row = fit.differences.iloc[0]
    d = table.groupby("model")["score"].mean()
    assert row["estimate"] == pytest.approx(d["a"] - d["b"], abs=0.01)
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * 0.4 * np.sqrt(2 / 200), rel=0.15)
    assert np.isnan(row["odds_ratio"])
    assert 0.3 < fit.spread[0] < 0.8


def test_neither_row_order_nor_the_seed_matters_much():
    table = study(8)
    a = hierarchical(table, rng=np.random.default_rng(1))
    b = hierarchical(table.sample(frac=1, random_state=3), rng=np.random.default_rng(1))
    pd.testing.assert_frame_equal(a.differences, b.differences, rtol=1e-6)
    c = hierarchical(table, rng=np.random.default_rng(2))
    assert a.differences["estimate"].tolist() == pytest.approx(c.differences["estimate"].tolist(), abs=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[t["question_id"] < "q02"], "fewer than three questions"),
        (lambda t: t.assign(accuracy=0.5), "not only 0 and 1"),
        (lambda t: t.assign(accuracy=1), "nothing tells"),
        (lambda t: t.assign(accuracy=0), "nothing tells"),
        (lambda t: t.drop(columns="accuracy"), "accuracy"),
        (lambda t: t.assign(accuracy=np.nan), "fewer than three questions"),
    ],
)
def test_what_cannot_be_known_is_refused(change, message):
    with pytest.raises(StatisticsError, match=message):
        hierarchical(change(study(1)), rng=np.random.default_rng(1))
