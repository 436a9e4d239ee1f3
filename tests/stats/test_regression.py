from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dsqa.errors import StatisticsError
from dsqa.stats import fit_line, verbosity_fit
from tests.support.synthetic import synthetic_outcomes

from .data import reference, study


@pytest.fixture(scope="module")
def ratios():
    table = study()
    return table.assign(
        word_ratio=(table["words_in"] / table["words_out"]).where(table["words_out"] > 0),
        token_ratio=(table["tokens_in"] / table["tokens_out"]).where(table["tokens_out"] > 0),
    )


CASES = [("raw", "c_lm_raw", "word_ratio", "wr"), ("log", "c_lm_loglog", "np.log(word_ratio)", "log(wr)")]


@pytest.mark.parametrize(("scale", "key", "term", "r_term"), CASES)
def test_agrees_with_r(ratios, scale, key, term, r_term):
    want, fit = reference()[key], verbosity_fit(ratios, scale)
    assert (fit.n, fit.dropped, fit.clusters) == (want["n"], 71, want["n_clusters"])
    for ours, theirs in ((term, r_term), ("Intercept", "(Intercept)")):
        assert fit.coefficients[ours] == pytest.approx(want["coef"][theirs], rel=1e-8)
        for kind, name in (
            ("classical", "se"),
            ("hc3", "hc3_se"),
            ("cluster", "cluster_hc1_se"),
            ("cluster-hc3", "cluster_hc3_se"),
        ):
            assert fit.errors[kind][ours] == pytest.approx(want[name][theirs], rel=1e-8), kind
        for kind, name in (("classical", "ci95"), ("hc3", "hc3_ci95"), ("cluster", "cluster_hc1_ci95_t_G_minus_1")):
            ci = fit.interval(ours, kind=kind)
            assert (ci.low, ci.high) == pytest.approx(want[name][theirs], rel=1e-8), kind
    assert (fit.r_squared, fit.sigma) == pytest.approx((want["r2"], want["sigma"]), rel=1e-8)
    assert fit.p_value(term, equals=1, kind="cluster") == pytest.approx(
        want["slope_eq_1_p_cluster_t_G_minus_1"], rel=1e-8
    )
    for kind, name in (("classical", "ols"), ("hc3", "hc3"), ("cluster", "cluster_hc1")):
        t = (fit.coefficients[term] - 1) / fit.errors[kind][term]
        assert t == pytest.approx(want["slope_eq_1_t"][name], rel=1e-8)


def test_the_default_is_clustered_and_wider():
    fit = verbosity_fit(synthetic_outcomes(questions=8), "log")
    assert fit.best_kind == "cluster-hc3"
    assert fit.interval("np.log(word_ratio)") == fit.interval("np.log(word_ratio)", kind="cluster-hc3")


def test_cluster_hc3_by_leaving_out_clusters():
    """(I − H_gg)⁻¹ residuals are those of the fit without the cluster."""
    rng = np.random.default_rng(1)
    g = np.repeat(np.arange(6), 5)
    x = rng.normal(size=30) + g
    data = pd.DataFrame({"x": x, "y": 2 * x + rng.normal(size=6)[g] + rng.normal(size=30), "g": g})
    fit = fit_line("y ~ x", data, cluster="g")
    design = np.column_stack([np.ones(30), x])
    bread = np.linalg.inv(design.T @ design)
    meat = np.zeros((2, 2))
    for cluster in range(6):
        rest, own = g != cluster, g == cluster
        beta = np.linalg.lstsq(design[rest], data["y"][rest], rcond=None)[0]
        score = design[own].T @ (data["y"][own] - design[own] @ beta)
        meat += np.outer(score, score)
    want = np.sqrt(np.diag(bread @ meat @ bread))
    assert list(fit.errors["cluster-hc3"].values()) == pytest.approx(list(want), rel=1e-9)


def test_runs_without_output_are_dropped_and_counted():
    table = synthetic_outcomes(questions=6, runs=20)
    fit = verbosity_fit(table)
    assert fit.dropped == table["word_ratio"].isna().sum() > 0
    assert fit.n + fit.dropped == len(table)


def test_row_order_does_not_matter(ratios):
    a, b = verbosity_fit(ratios), verbosity_fit(ratios.sample(frac=1, random_state=1))
    assert list(a.table()["se"]) == pytest.approx(list(b.table()["se"]), rel=1e-10)


def test_units_of_words_do_not_change_the_exponent(ratios):
    a = verbosity_fit(ratios)
    b = verbosity_fit(ratios.assign(word_ratio=7 * ratios["word_ratio"]))
    term = "np.log(word_ratio)"
    assert b.coefficients[term] == pytest.approx(a.coefficients[term], rel=1e-10)
    assert b.errors["cluster-hc3"][term] == pytest.approx(a.errors["cluster-hc3"][term], rel=1e-8)


def test_normal_residuals_beyond_two_sd_are_one_in_22():
    rng = np.random.default_rng(2)
    x = rng.normal(size=40_000)
    fit = fit_line("y ~ x", pd.DataFrame({"x": x, "y": x + rng.normal(size=40_000)}))
    assert fit.beyond_two_sd == pytest.approx(0.0455, abs=0.004)
    assert fit.clusters == 0
    assert fit.best_kind == "hc3"


def test_a_category_in_a_formula():
    table = synthetic_outcomes(questions=6)
    fit = fit_line("accuracy ~ C(level)", table, cluster="question_id")
    means = table.groupby("level")["accuracy"].mean().astype(float)
    assert fit.coefficients["Intercept"] == pytest.approx(means["easy"])
    assert fit.coefficients["C(level)[T.hard]"] == pytest.approx(means["hard"] - means["easy"])


def test_no_clustered_errors_without_clusters():
    fit = fit_line("y ~ x", pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [1.0, 3, 2, 4]}))
    with pytest.raises(StatisticsError, match="no cluster errors"):
        fit.interval("x", kind="cluster")


def test_an_unknown_term_is_refused():
    fit = fit_line("y ~ x", pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [1.0, 3, 2, 4]}))
    with pytest.raises(StatisticsError, match="no term 'z'"):
        fit.p_value("z")


@pytest.mark.parametrize(
    ("data", "formula", "message"),
    [
        ({"x": [1.0, 2], "y": [1.0, 3]}, "y ~ x", "too few"),
        ({"x": [1.0, 1, 1, 1], "y": [1.0, 3, 2, 4]}, "y ~ x", "does not vary"),
        ({"x": [1.0, 2, 3, 4], "y": [1.0, 3, 2, 4]}, "y ~ z", "cannot be fitted"),
        ({"x": [0.0, 2, 3, 4], "y": [1.0, 3, 2, 4]}, "y ~ np.log(x)", "infinite"),
        ({"x": [1.0, 2, 3, 4], "y": [1.0, 3, 2, 4]}, "y ~ (x", "cannot be fitted"),
    ],
)
def test_what_cannot_be_fitted_is_refused(data, formula, message):
    with pytest.raises(StatisticsError, match=message):
        fit_line(formula, pd.DataFrame(data))


def test_one_cluster_is_refused():
    data = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [1.0, 3, 2, 4], "g": "a"})
    with pytest.raises(StatisticsError, match="one cluster"):
        fit_line("y ~ x", data, cluster="g")


def test_no_ratios_at_all_are_refused():
    table = synthetic_outcomes().assign(word_ratio=pd.NA)
    with pytest.raises(StatisticsError):
        verbosity_fit(table)
