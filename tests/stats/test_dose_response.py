from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import CubicSpline

from dsqa.errors import StatisticsError
from dsqa.stats import dose_response, fit_line, quantile_line, theil_sen_line, verbosity_fit, verbosity_table
from dsqa.stats.temperature_response import natural_spline

from .data import reference, study


@pytest.fixture(scope="module")
def ratios():
    table = study()
    return table.assign(
        word_ratio=(table["words_in"] / table["words_out"]).where(table["words_out"] > 0),
        token_ratio=(table["tokens_in"] / table["tokens_out"]).where(table["tokens_out"] > 0),
    )


def planned(effect, questions: int = 12, runs: int = 40, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for q in range(questions):
        base = rng.normal(1.5, 0.4)
        for t in (0.0, 0.5, 1.0, 1.5):
            rows += [(f"q{q}", "m", t, float(np.clip(base + effect(t) + e, 0, 3))) for e in rng.normal(0, 0.2, runs)]
    return pd.DataFrame(rows, columns=["question_id", "model", "temperature", "score"])


@pytest.mark.parametrize("measure", ["accuracy", "score", "instability"])
def test_with_a_knot_per_temperature_the_curve_runs_through_the_means(measure):
    fit = dose_response(study(), measure)
    column = "accuracy" if measure == "accuracy" else "score"
    runs = study().groupby(["question_id", "model", "temperature"])[column]
    values = runs.std(ddof=0) / 1.5 if measure == "instability" else runs.mean()
    means = values.groupby("temperature").mean()
    curve = CubicSpline(means.index, means, bc_type="natural")
    grid = fit.curve["temperature"].to_numpy()
    assert fit.curve["change"].to_numpy() == pytest.approx(curve(grid) - means.iloc[0], abs=1e-10)
    assert (fit.questions, fit.cells, fit.left_out) == (20, 240, 0)


def test_the_line_is_the_regression_on_cells_with_question_effects():
    cells = study().groupby(["question_id", "model", "temperature"])["score"].mean().reset_index()
    fit = fit_line("score ~ temperature + C(question_id):C(model)", cells, cluster="question_id")
    got = dose_response(study(), "score").linear
    assert got.coefficients["temperature"] == pytest.approx(fit.coefficients["temperature"], rel=1e-9)
    # Centring first leaves out the factor (n − 1)/(n − p) of the dummies, not the clusters' own.
    assert got.errors["cluster"]["temperature"] == pytest.approx(
        fit.errors["cluster"]["temperature"] * np.sqrt((240 - 61) / 239 * 239 / 239), rel=1e-2
    )


def test_a_straight_effect_is_found_straight_and_a_bent_one_bent():
    straight, bent = (
        dose_response(planned(lambda t: 0.2 * t), "score"),
        dose_response(planned(lambda t: 0.5 * t**3 / 3), "score"),
    )
    assert straight.linear.coefficients["temperature"] == pytest.approx(0.2, abs=0.03)
    assert straight.nonlinearity_p > 0.05
    assert bent.nonlinearity_p < 1e-3


def test_test_of_nonlinearity_keeps_its_level():
    p = [dose_response(planned(lambda t: 0.1 * t, runs=3, seed=s), "score").nonlinearity_p for s in range(20)]
    assert np.mean(np.array(p) < 0.1) <= 0.25


def test_questions_asked_at_other_temperatures_do_not_bend_the_curve():
    table = planned(lambda t: 0.0)
    # Easy questions at high temperatures only: between questions the score rises, within it does not.
    easy = table[table["temperature"] > 0.6].assign(
        question_id=lambda t: "e" + t["question_id"], score=lambda t: np.clip(t["score"] + 1, 0, 3)
    )
    fit = dose_response(pd.concat([table, easy]), "score")
    assert fit.linear.coefficients["temperature"] == pytest.approx(0, abs=0.03)


def test_two_temperatures_have_a_line_and_no_spline():
    fit = dose_response(study()[lambda t: t["temperature"].isin([0.2, 1.2])], "score")
    assert fit.spline is None
    assert np.isnan(fit.nonlinearity_p)
    assert fit.curve["change"].iloc[-1] == pytest.approx(fit.linear.coefficients["temperature"])


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t[t["temperature"] == 0.2],
        lambda t: t[t["question_id"] == "q01"],
        lambda t: t.assign(temperature=np.nan, condition_id=t["temperature"].astype(str)),
    ],
)
def test_no_curve_without_two_questions_at_two_temperatures(change):
    with pytest.raises(StatisticsError, match="at least two questions"):
        dose_response(change(study()), "score")


def test_spline_is_straight_beyond_its_outer_knots():
    basis = natural_spline([2.0, 3.0, 4.0], [0, 0.5, 1.0, 1.5])
    assert np.diff(basis, n=2, axis=0) == pytest.approx(np.zeros((1, 3)), abs=1e-12)
    with pytest.raises(StatisticsError, match="three increasing knots"):
        natural_spline([1.0], [0, 1])


# --- robust lines


@pytest.mark.parametrize(
    ("scale", "key", "term"), [("log", "c_quantreg_median_loglog", "log(wr)"), ("raw", "c_quantreg_median_raw", "wr")]
)
def test_median_regression_and_its_kernel_error_agree_with_r(ratios, scale, key, term):
    formula = {"log": "np.log(token_ratio) ~ np.log(word_ratio)", "raw": "token_ratio ~ word_ratio"}[scale]
    want, line = reference()[key], quantile_line(formula, ratios, cluster=None)
    assert line.estimate == pytest.approx(want["coef"][term], rel=1e-8)
    # R's smallest-step residuals differ in the last digits of those on the line.
    assert line.error == pytest.approx(want["se_ker"][term], rel=1e-6)


def test_theil_sen_agrees_with_scipy_where_all_pairs_are_used():
    from scipy.stats import theilslopes

    table = study().iloc[::30].assign(x=lambda t: t["words_in"] + t["tokens_in"] / 7.0)
    line = theil_sen_line("tokens_in ~ x", table, seed=1, resamples=99)
    assert line.estimate == pytest.approx(theilslopes(table["tokens_in"], table["x"]).slope, rel=1e-12)
    assert "all pairs" in line.interval.method


def test_wild_runs_bend_least_squares_and_not_the_robust_lines():
    rng = np.random.default_rng(3)
    q = np.repeat(np.arange(20), 10)
    x = rng.normal(size=200)
    y = 2 * x + rng.normal(0, 0.1, 200)
    y[x > 1.2] = -20
    table = pd.DataFrame({"question_id": q, "x": x, "y": y})
    assert fit_line("y ~ x", table).coefficients["x"] < 0
    assert quantile_line("y ~ x", table).estimate == pytest.approx(2, abs=0.1)
    assert theil_sen_line("y ~ x", table, seed=1).estimate == pytest.approx(2, abs=0.1)


def test_clustered_errors_of_the_median_cover():
    rng, hits = np.random.default_rng(4), 0
    q = np.repeat(np.arange(25), 8)
    for _ in range(40):
        x = rng.normal(size=25)[q] + 0.3 * rng.normal(size=200)
        y = x + rng.normal(size=25)[q] + 0.3 * rng.normal(size=200)
        line = quantile_line("y ~ x", pd.DataFrame({"question_id": q, "x": x, "y": y}))
        hits += line.interval.low <= 1 <= line.interval.high
    assert hits / 40 >= 0.86


def test_verbosity_every_way(ratios):
    table = verbosity_table(ratios, seed=1, resamples=199)
    assert table.groupby("scale")["method"].unique().map(list).to_dict() == {
        scale: ["OLS", "median", "Theil–Sen"] for scale in ("log", "raw")
    }
    fit = verbosity_fit(ratios)
    row = table[(table["scale"] == "log") & (table["errors"] == "cluster-hc3")].iloc[0]
    assert row["p"] == pytest.approx(fit.p_value("np.log(word_ratio)", equals=1))
    assert row["beyond_two_sd"] == fit.beyond_two_sd
    assert (table["dropped"] == 71).all()
    assert (table["low"] < table["slope"]).all()
    # All robust slopes agree that tokens are about proportional to words.
    assert table.loc[table["scale"] == "log", "slope"].between(1.0, 1.06).all()


def test_a_joint_test_of_terms_agrees_with_the_single_one():
    fit = fit_line("score ~ temperature + C(level)", study(), cluster="question_id")
    assert fit.joint_p_value(["temperature"]) == pytest.approx(fit.p_value("temperature"), rel=1e-9)
    with pytest.raises(StatisticsError, match="no term"):
        fit.joint_p_value(["charm"])
    with pytest.raises(StatisticsError, match="no terms"):
        fit.joint_p_value([])


def test_two_predictors_are_no_straight_line(ratios):
    with pytest.raises(StatisticsError, match="not a straight line"):
        quantile_line("token_ratio ~ word_ratio + temperature", ratios)


def test_more_than_half_on_the_line_has_no_spread():
    table = pd.DataFrame({"question_id": list("aabbccdd"), "x": np.arange(8.0), "y": [0.0, 1, 2, 3, 4, 5, 6, 50]})
    with pytest.raises(StatisticsError, match="on the line"):
        quantile_line("y ~ x", table)
