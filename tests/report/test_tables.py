"""Tables of data frames and of fitted models, against R's printed output and by hand."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.errors import ReportError, StatisticsError
from dsqa.report.digits import FILL, aligned, decimals_for, estimate, fixed, interval_error
from dsqa.report.tables import Field, Note, data_table, model_summary
from dsqa.stats.models import gee, glmm
from dsqa.stats.regression import fit_line

# R's `cars`.
SPEED = [4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15]
SPEED += [15, 16, 16, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25]
DIST = [2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26]
DIST += [54, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85]
CARS = pd.DataFrame({"speed": SPEED, "dist": DIST})


def cells(markdown: str) -> list[list[str]]:
    """Return the cells of the last table, without escapes, spans and spaces that only fill up."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    start = max(i for i, line in enumerate(lines) if set(line) <= set("|:-"))
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in (lines[start - 1], *lines[start + 1 :])]
    return [[re.sub(r"\\(.)", r"\1", cell).strip(FILL + " ").replace("\xa0", " ") for cell in row] for row in rows]


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        pytest.param(0.52341, 0.0312, "0.523", id="third decimal"),
        pytest.param(0.52341, 0.0996, "0.52", id="an error that rounds up to another first digit"),
        pytest.param(1234.5, 314.0, "1,230", id="tens"),
        pytest.param(-1234.5, 3140.0, "−1,200", id="hundreds, true minus"),
        pytest.param(-0.001, 0.5, "0.00", id="no sign for what is rounded away"),
        pytest.param(0.5, math.nan, "0.500", id="error not known"),
        pytest.param(0.5, 0.0, "0.500", id="error of nothing"),
        pytest.param(math.nan, 0.1, "–", id="missing"),
        pytest.param(math.inf, 0.1, "∞", id="infinite"),
        pytest.param(1.5e-9, 1.2e-10, "1.50\xa0×\xa010^−9^", id="power of ten"),
    ],
)
def test_digits_by_uncertainty(value: float, error: float, shown: str) -> None:
    assert estimate(value, error) == shown


@given(st.floats(1e-5, 1e5), st.floats(-1e6, 1e6))
def test_rounding_costs_less_than_a_tenth_of_the_error(error: float, value: float) -> None:
    decimals = decimals_for(error)
    assert decimals is not None
    if decimals <= 6:
        read = float(fixed(value, decimals).replace("−", "-").replace(",", ""))
        # Half a unit of the second digit is at most 5 % of the error, but for binary fractions.
        assert abs(read - value) <= 0.051 * error + 1e-9 * abs(value)


def test_interval_gives_back_its_standard_error() -> None:
    assert interval_error(1 - 1.959964 * 0.2, 1 + 1.959964 * 0.2) == pytest.approx(0.2)


def test_points_stand_below_each_other() -> None:
    filled = aligned(["1.25", "10", "−0.5", "–"])
    assert [cell.rstrip(FILL) for cell in filled] == ["1.25", "10", "−0.5", "–"]
    assert [len(cell) for cell in filled] == [4, 5, 5, 1]


def test_types_decide_what_is_not_said() -> None:
    frame = pd.DataFrame({"a_b": ["x*y"], "n": [1234567], "x": [0.123456], "yes": [True]})
    head, row = cells(data_table(frame))
    assert head == ["a b", "n", "x", "yes"]
    assert row == ["x*y", "1,234,567", "0.123", "yes"]
    assert "x\\*y" in data_table(frame)


def test_same_digits_in_a_column_without_errors() -> None:
    frame = pd.DataFrame({"q": ["a", "b"], "x": [123.4, 0.02]})
    assert [row[1] for row in cells(data_table(frame))[1:]] == ["123", "0"]
    assert [row[1] for row in cells(data_table(frame, ["q", Field("x", digits=2)]))[1:]] == ["123.40", "0.02"]


def test_nothing_has_no_sign() -> None:
    frame = pd.DataFrame({"q": ["a", "b"], "x": [0.0, -0.0]})
    assert [row[1] for row in cells(data_table(frame, ["q", Field("x", style="signed")]))[1:]] == ["0.00", "0.00"]
    assert [fixed(value, 1, sign=True) for value in (0.04, -0.04, 0.06, -0.06)] == ["0.0", "0.0", "+0.1", "−0.1"]


def test_share_with_its_interval() -> None:
    frame = pd.DataFrame({"m": ["a"], "p": [0.5], "low": [0.3701], "high": [0.6299], "pv": [0.00004]})
    shown = data_table(frame, ["m", Field("p", style="percent", low="low", high="high"), Field("pv", style="p")])
    assert cells(shown)[1] == ["a", "50.0 % [[37.0, 63.0] %]{.interval}", "< 0.001"]


@pytest.mark.parametrize("bare", [None, float("nan"), pd.NA])
def test_missing_is_a_dash_that_says_why(bare: object) -> None:
    frame = pd.DataFrame({"m": list("abc"), "x": [1.0, bare, bare], "why": ["", "one run only", None]})
    frame["x"] = frame["x"].astype("Float64")
    shown = data_table(frame, ["m", Field("x", missing_from="why")], missing="no run")
    assert [row[1] for row in cells(shown)[1:]] == ["1.00", "–^a^", "–^b^"]
    assert "^a^ one run only\n\n^b^ no run" in shown


def test_one_mark_for_one_text_and_groups_where_neighbours_are_equal() -> None:
    frame = pd.DataFrame({"g": ["x", "x", "y"], "m": ["a", "b", "c"], "n": [1, 2, 3]})
    notes = [Note("odd", 0, "n"), Note("odd", 2, "n"), Note("other", 1, "m"), "Source: us."]
    shown = data_table(frame, group="g", notes=notes, label="tbl-x", caption="Cap")
    head, *rows = cells(shown)
    assert head == ["m", "n"]
    assert rows == [["[x]{.group}", ""], ["a", "1^a^"], ["b^b^", "2"], ["[y]{.group}", ""], ["c", "3^a^"]]
    assert shown.index("^b^ other") < shown.index("Source: us.") < shown.index("Cap")
    assert shown.startswith("::: {#tbl-x .data .sortable}")
    assert ".sortable" not in data_table(frame, sortable=False)


def test_a_column_that_is_not_there_is_named() -> None:
    frame = pd.DataFrame({"x": [1.0]})
    for fields in (["z"], [Field("x", se="z")], [Field("x", low="z", high="x")]):
        with pytest.raises(ReportError, match="no column 'z'"):
            data_table(frame, fields)


def test_linear_summary_is_that_of_r() -> None:
    # summary(lm(dist ~ speed, cars)) and AIC() of it, R 4.3.
    fit = fit_line("dist ~ speed", CARS)
    shown = model_summary(fit, errors="classical", label="tbl-c", stars=True)
    head, first, second = cells(shown)
    assert head == ["Term", "Estimate", "Std. Error", "t value", "df", "Pr(>|t|)", " ", "95 % CI"]
    assert first == ["Intercept", "−17.6", "6.8", "−2.60", "48", "0.012", "*", "[−31.2, −4.0]"]
    assert second == ["speed", "3.93", "0.42", "9.46", "48", "< 0.001", "***", "[3.10, 4.77]"]
    assert "| −29.07 | −9.53 | −2.27 | 9.21 | 43.20 |" in shown
    for line in (
        "Residual standard error: 15.38 on 48 degrees of freedom. R²: 0.6511, adjusted R²: 0.6438. AIC: 419.2.",
        "F statistic: 89.57 on 1 and 48 df, p < 0.001.",
        "N: 50 rows.",
    ):
        assert line in shown
    assert fit.aic == pytest.approx(419.1569, abs=5e-5)


def test_summary_uses_the_errors_that_assume_least_and_says_which() -> None:
    shown = model_summary(fit_line("dist ~ speed", CARS))
    assert "Std. Error (HC3)" in shown
    assert "Significance" not in shown
    clustered = CARS.assign(g=np.arange(50) % 5)
    shown = model_summary(fit_line("dist ~ speed", clustered, cluster="g"))
    assert "cluster HC3" in shown
    assert "N: 50 rows in 5 clusters." in shown
    assert {row[4] for row in cells(shown)[1:]} == {"4"}
    with pytest.raises(StatisticsError, match="no cluster errors"):
        model_summary(fit_line("dist ~ speed", CARS), errors="cluster")


def test_summary_without_predictors_has_no_f() -> None:
    assert "F: not available" in model_summary(fit_line("dist ~ 1", CARS), errors="classical")


@pytest.fixture(scope="module")
def marks() -> pd.DataFrame:
    rows = [(q, x, int((q * q + 3 * x + r) % 7 < 2 + x)) for q in range(8) for x in (0, 1) for r in range(5)]
    return pd.DataFrame(rows, columns=["question_id", "x", "y"])


def test_mixed_model_has_z_odds_ratios_and_its_likelihood(marks: pd.DataFrame) -> None:
    fit = glmm("y ~ x", marks)
    shown = model_summary(fit, odds_ratios=True, terms={"x": "*Changed*"})
    head, _, row = cells(shown)
    assert head == ["Term", "Estimate", "Std. Error", "z value", "Pr(>|z|)", "95 % CI", "Odds ratio, 95 % CI"]
    assert row[0] == "*Changed*"
    assert float(row[3]) == pytest.approx(fit.coefficients["x"] / fit.errors["x"], abs=0.005)
    assert float(row[6].split()[0]) == pytest.approx(math.exp(fit.coefficients["x"]), rel=0.05)
    assert f"AIC: {2 * 3 - 2 * fit.log_likelihood:.1f}" in shown


def test_estimating_equations_have_t_and_no_likelihood(marks: pd.DataFrame) -> None:
    shown = model_summary(gee("y ~ x", marks))
    assert cells(shown)[0] == ["Term", "Estimate", "Robust SE", "t value", "df", "Pr(>|t|)", "95 % CI"]
    assert "Correlation of two runs" in shown
    assert "AIC" not in shown


def test_a_linear_model_has_no_odds_ratios() -> None:
    with pytest.raises(StatisticsError, match="no odds ratios"):
        model_summary(fit_line("dist ~ speed", CARS), odds_ratios=True)


def test_an_estimate_beside_na_is_still_a_number_and_a_plain_zero_has_few_digits() -> None:
    mixed = pd.DataFrame({"e": [-0.21669143, pd.NA], "low": [-0.5, pd.NA], "high": [0.1, pd.NA]}, dtype=object)
    assert cells(data_table(mixed, [Field("e", "E", low="low", high="high")]))[1][0].startswith("−0.22")
    rare = pd.DataFrame({"e": [0.0024, 0.0], "low": [0.0, math.nan], "high": [0.0122, math.nan]})
    assert cells(data_table(rare, [Field("e", "E", low="low", high="high")]))[2] == ["0.000"]
