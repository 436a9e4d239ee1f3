"""The coverage study: what is committed is what its rows say, and its vectorised intervals are the package's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.coverage.__main__ import RESULTS, SECTIONS
from analysis.coverage.candidates import jackknife, strata, student
from analysis.coverage.page import PAGE, SHOWN, page_text, shown_table
from analysis.coverage.questions import expected_table
from analysis.coverage.verdicts import DEFAULTS
from dsqa.stats import wilson
from dsqa.stats.comparison.equal_runs import expected_of_fewer
from dsqa.stats.comparison.layout import STATISTICS
from dsqa.stats.jackknife import jackknife_interval
from dsqa.stats.over_questions import difference_interval
from dsqa.stats.shown import KEPT, Shown, coverage_note, shown
from dsqa.stats.these_questions import stratified_interval


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    return pd.read_csv(RESULTS)


def test_the_page_and_what_the_package_knows_are_made_from_the_committed_rows(results: pd.DataFrame) -> None:
    assert PAGE.read_text(encoding="utf-8") == page_text(results)
    kept = pd.read_csv(SHOWN)
    made = shown_table(results)
    pd.testing.assert_frame_equal(kept, made, check_dtype=False)
    assert set(kept["kind"]) == set(DEFAULTS)
    assert set(results["section"]) == set(SECTIONS)


@pytest.mark.parametrize("kind", ["difference", "difference, these questions", "mean over questions", "agreement"])
def test_the_defaults_keep_their_level(kind: str, results: pd.DataFrame) -> None:
    own = shown_table(results)
    means = own.loc[own["kind"] == kind, "mean"]
    assert means.between(*KEPT).all()


def test_a_note_says_where_an_interval_does_not_keep_its_level() -> None:
    assert coverage_note("difference", 20) == ""
    line = shown("ICC", 12)
    assert line is not None
    assert line.questions == 10
    assert line.mean < KEPT[0]
    assert f"{line.mean:.0f} %" in coverage_note("ICC", 12)
    assert shown("reliability of one run", 2) == shown("reliability of one run", 3)
    assert isinstance(shown("ICC", 10**6), Shown)


def test_the_studys_intervals_are_the_packages() -> None:
    rng = np.random.default_rng(4)
    d = np.round(rng.normal(size=(6, 9)), 2)
    d[0, :8] = 0.0
    low, high = student(d)
    for at, values in enumerate(d):
        found = difference_interval(values)
        assert (low[at], high[at]) == pytest.approx((found.low, found.high), nan_ok=True)
    without = np.tanh(rng.normal(size=(3, 7)))
    value = without.mean(axis=1)
    low, high = jackknife(value, without, "fisher")
    for at in range(3):
        found = jackknife_interval(float(value[at]), without[at], kind="", level=0.95, scale="fisher")
        assert (low[at], high[at]) == pytest.approx((found.low, found.high))
    variances, sizes = rng.random((3, 8)), np.repeat([5, 9], 4)
    low, high = strata(value, variances, sizes)
    for at in range(3):
        found = stratified_interval(float(value[at]), np.ones(8), variances[at], sizes)
        assert (low[at], high[at]) == pytest.approx((found.low, found.high))


def test_expected_sd_at_fewer_runs_is_the_packages() -> None:
    table = expected_table(12, 5)
    for right in (0, 3, 12):
        runs = np.repeat([1.5, 3.0], [12 - right, right])
        assert table[right] == pytest.approx(expected_of_fewer(STATISTICS["instability"], runs, 5))


@pytest.mark.parametrize("n", [5, 10, 50, 100])
def test_wilsons_worst_coverage_near_nought_is_what_the_page_says(n: int) -> None:
    ends = [wilson(x, n) for x in range(n + 1)]
    p = np.linspace(0.0001, 0.5, 20_000)
    from scipy.stats import binom

    covered = sum(binom.pmf(x, n, p) * ((p >= ci.low) & (p <= ci.high)) for x, ci in enumerate(ends))
    assert 0.83 <= covered.min() < 0.865
    assert 0.1 < n * p[covered.argmin()] < 0.25


def test_a_section_runs_alone_and_repeats() -> None:
    first, second = (SECTIONS["changes"](10, 49, np.random.default_rng(3)) for _ in range(2))
    assert pd.DataFrame(first).equals(pd.DataFrame(second))
