from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.errors import StatisticsError
from dsqa.stats import cohen_kappa, fleiss_kappa, icc, kendall_w, krippendorff_alpha, krippendorff_interval

from .data import few, reference, study

matrices = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=3, max_size=12).filter(
    lambda rows: len({value for row in rows for value in row}) > 1
)


def ratings(column, *, failed_missing=False):
    cell = study().query("model == 'model_b' and temperature == 1.0")
    if failed_missing:
        cell[column] = cell[column].where(cell["completion"] == 1)
    return cell.pivot(index="question_id", columns="run", values=column).to_numpy(float)


@pytest.mark.parametrize("column", ["accuracy", "executability", "score"])
@pytest.mark.parametrize("measurement", ["nominal", "ordinal", "interval"])
def test_alpha_agrees_with_the_direct_formula_in_r(column, measurement):
    want = reference()["e_krippendorff_correct"]
    assert krippendorff_alpha(ratings(column), measurement) == pytest.approx(want[column][measurement], rel=1e-8)
    missing = krippendorff_alpha(ratings(column, failed_missing=True), measurement)
    assert missing == pytest.approx(want[f"{column}_missing"][measurement], rel=1e-8)


def test_alpha_of_krippendorffs_own_example():
    """Four observers, twelve units, Krippendorff (2011) section E: 0.743, 0.815, 0.849, 0.797."""
    n = np.nan
    table = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
            [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
        ]
    ).T
    got = [round(krippendorff_alpha(table, m), 3) for m in ("nominal", "ordinal", "interval", "ratio")]
    assert got == [0.743, 0.815, 0.849, 0.797]


def test_fleiss_kappa_agrees_with_r():
    want = reference()["e_reliability"]
    for column, key in (("accuracy", "accuracy"), ("executability", "executability"), ("score", "score_as_nominal")):
        assert fleiss_kappa(ratings(column)) == pytest.approx(want[f"fleiss_{key}"]["kappa"], rel=1e-8)


def test_kendall_w_agrees_with_r():
    want = reference()["e_reliability"]["kendall_w_tie_corrected"]["W"]
    assert kendall_w(ratings("score")) == pytest.approx(want, rel=1e-8)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("1,1", "ICC1"),
        ("2,1", "ICC2"),
        ("3,1", "ICC3"),
        ("1,k", "ICC1k"),
        ("2,k", "ICC2k"),
        ("3,k", "ICC3k"),
    ],
)
def test_icc_agrees_with_psych(form, name):
    want = next(row for row in reference()["e_reliability"]["psych_aov"] if row["type"] == name)
    got = icc(ratings("score"), form)
    assert (got.value, got.f, got.df1, got.df2) == pytest.approx(
        (want["ICC"], want["F"], want["df1"], want["df2"]), rel=1e-8
    )
    ends = (want["lower bound"], want["upper bound"])
    assert (got.interval.low, got.interval.high) == pytest.approx(ends, rel=1e-8)
    assert got.p == pytest.approx(want["p"], rel=1e-8)


@pytest.mark.parametrize("form", ["1,1", "1,k", "2,1", "3,1", "3,k"])
def test_icc_agrees_with_irr_where_irr_is_right(form):
    want = reference()["e_reliability"][f"icc_{form.replace(',', '_')}"]
    got = icc(ratings("score"), form)
    assert (got.value, got.interval.low, got.interval.high) == pytest.approx((want["value"], *want["ci95"]), rel=1e-8)


def test_icc_of_shrout_and_fleiss():
    """Their table 2: six targets, four judges."""
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    got = [round(icc(table, form).value, 2) for form in ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")]
    assert got == [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]


def test_cohen_kappa_by_hand():
    # Table [[20, 5], [10, 15]]: agreement 0.7, by chance 0.5 → 0.4
    first = [0] * 25 + [1] * 25
    second = [0] * 20 + [1] * 5 + [0] * 10 + [1] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    # Two categories: weights change nothing.
    assert cohen_kappa(first, second, weights="quadratic") == pytest.approx(0.4)


def test_quadratic_kappa_forgives_near_misses():
    first, near, far = [0, 1, 2, 3] * 5, [0, 1, 3, 3] * 5, [0, 1, 0, 3] * 5
    assert cohen_kappa(first, near, weights="quadratic") > cohen_kappa(first, far, weights="quadratic")


@few
@given(matrices, st.permutations(range(4)))
def test_order_of_units_and_raters_does_not_matter(rows, order):
    matrix = np.array(rows, float)
    other = matrix[::-1][:, list(order)]
    for measurement in ("nominal", "ordinal", "interval"):
        a, b = krippendorff_alpha(matrix, measurement), krippendorff_alpha(other, measurement)
        assert a == pytest.approx(b, abs=1e-10)


@few
@given(matrices)
def test_relabelling_and_scale(rows):
    matrix = np.array(rows, float)
    labels = np.array([7.0, 1.0, 9.0, 4.0])
    assert krippendorff_alpha(labels[matrix.astype(int)]) == pytest.approx(krippendorff_alpha(matrix), abs=1e-10)
    assert krippendorff_alpha(3 * matrix + 5, "interval") == pytest.approx(
        krippendorff_alpha(matrix, "interval"), abs=1e-10
    )
    assert krippendorff_alpha(np.exp(matrix), "ordinal") == pytest.approx(
        krippendorff_alpha(matrix, "ordinal"), abs=1e-10
    )


@few
@given(matrices)
def test_alpha_never_exceeds_one(rows):
    for measurement in ("nominal", "ordinal", "interval", "ratio"):
        assert krippendorff_alpha(rows, measurement) <= 1 + 1e-12


def test_alpha_interval_holds_alpha_and_repeats():
    matrix = ratings("score")
    ci = krippendorff_interval(matrix, "interval", seed=1)
    assert krippendorff_alpha(matrix, "interval") in ci
    assert ci == krippendorff_interval(matrix, "interval", seed=1)


def test_alpha_interval_is_refused_where_one_unit_carries_all_variation():
    ci = krippendorff_interval([[1, 1], [1, 1], [2, 2]], seed=1)
    assert not ci.available
    assert "one question" in ci.note


@pytest.mark.parametrize("estimator", [krippendorff_alpha, fleiss_kappa, icc])
def test_equal_ratings_are_refused(estimator):
    with pytest.raises(StatisticsError, match="all ratings are equal"):
        estimator([[1, 1], [1, 1], [1, 1]])


@pytest.mark.parametrize("estimator", [fleiss_kappa, icc, kendall_w])
def test_missing_ratings_are_refused_where_they_matter(estimator):
    with pytest.raises(StatisticsError, match="1 ratings are missing"):
        estimator([[1, 2], [np.nan, 1], [3, 3]])


def test_no_unit_with_two_ratings_is_refused():
    with pytest.raises(StatisticsError, match="no unit has two"):
        krippendorff_alpha([[1, np.nan], [np.nan, 2]])


def test_one_rater_is_refused():
    with pytest.raises(StatisticsError, match="at least two units"):
        icc([[1], [2], [3]])


def test_raters_who_never_differ_have_no_interval():
    with pytest.raises(StatisticsError, match="the ICC is 1"):
        icc([[1, 1], [2, 2], [3, 3]])


def test_unknown_settings_are_refused():
    with pytest.raises(StatisticsError, match="unknown measurement"):
        krippendorff_alpha([[1, 2], [2, 1]], "circular")
    with pytest.raises(StatisticsError, match="unknown form"):
        icc([[1, 2], [2, 1]], "4,1")
