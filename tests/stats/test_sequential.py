"""Confidence sequences: by hand, by exact enumeration of every path, by a library, and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from dsqa.errors import StatisticsError
from dsqa.stats import proportion_bounds
from dsqa.stats.dispersion import unseen_bound
from dsqa.stats.sequential import instability_calls, instability_sequence, proportion_sequence

HALVES = st.sampled_from([k / 2 for k in range(7)])


def martingale(x: int, n: int, p: float, a: float = 0.5) -> float:
    """The mixture likelihood ratio, integrated numerically: no Beta function in it."""
    grid = (np.arange(200_000) + 0.5) / 200_000
    prior = stats.beta(a, a).pdf(grid)
    like = grid**x * (1 - grid) ** (n - x)
    return float((prior * like).sum() / prior.sum() / (p**x * (1 - p) ** (n - x)))


@pytest.mark.parametrize(("x", "n"), [(3, 10), (24, 24), (50, 100), (1, 60)])
def test_ends_are_where_the_mixture_has_grown_twentyfold(x, n):
    low, high = proportion_sequence(x, n)
    if x < n:
        assert martingale(x, n, float(high)) == pytest.approx(20, rel=0.01)
    if x > 0:
        assert martingale(x, n, float(low)) == pytest.approx(20, rel=0.01)


def test_no_run_is_no_knowledge():
    low, high = proportion_sequence(0, 0)
    assert (low, high) == (0, 1)


def test_never_right_and_always_right_mirror_each_other_with_closed_form():
    n = 24
    low, high = proportion_sequence([0, n], [n, n])
    mixture = special.beta(0.5, n + 0.5) / special.beta(0.5, 0.5)
    assert low[0] == 0
    assert high[1] == 1
    assert high[0] == pytest.approx(1 - (mixture / 20) ** (1 / n))
    assert low[1] == pytest.approx(1 - high[0])


@pytest.mark.parametrize("p", [0.03, 0.2, 0.5, 0.9])
def test_every_path_together_misses_less_than_one_in_twenty(p):
    """Exact: the probability of all paths that leave the sequence within 300 runs, by dynamic programming."""
    inside, missed = np.array([1.0]), 0.0
    for n in range(1, 201):
        step = np.zeros(n + 1)
        step[:-1] += inside * (1 - p)
        step[1:] += inside * p
        low, high = proportion_sequence(np.arange(n + 1), n)
        out = (low > p) | (high < p)
        missed += step[out].sum()
        inside = np.where(out, 0.0, step)
    assert 0 < missed <= 0.05


def test_the_fixed_n_interval_does_miss_more_under_the_same_looking():
    p, inside, missed = 0.5, np.array([1.0]), 0.0
    for n in range(1, 201):
        step = np.zeros(n + 1)
        step[:-1] += inside * (1 - p)
        step[1:] += inside * p
        low, high = proportion_bounds(np.arange(n + 1), n)
        out = (low > p) | (high < p)
        missed += step[out].sum()
        inside = np.where(out, 0.0, step)
    assert missed > 0.2


@given(st.integers(0, 200), st.integers(0, 200))
def test_contains_the_share_and_is_wider_than_wilson(x, more):
    n = x + more
    low, high = proportion_sequence(x, n)
    if n:
        assert low <= x / n <= high
        w_low, w_high = proportion_bounds(x, n)
        assert high - low >= w_high - w_low


@pytest.mark.parametrize(("x", "n"), [(3, 2), (-1, 2), (0.5, 2), (math.nan, 2)])
def test_impossible_counts_are_refused(x, n):
    with pytest.raises(StatisticsError):
        proportion_sequence(x, n)


# Instability


def upper_capital(scores: list[float], v: float, bets: tuple = ((0.99, 0.85), (0.6, 0.1), (0.3, 0.05))) -> float:
    """The gambler against "the variance is at least v", run by run, in plain Python."""
    total = 0.0
    for share, weight in bets:
        capital = weight
        for t in range(1, len(scores)):
            mean = sum(scores[:t]) / t
            most = max(mean, 3 - mean) ** 2
            capital *= 1 - share * ((scores[t] - mean) ** 2 - v) / (most - v)
        total += capital
    return total


def lower_capital(scores: list[float], v: float) -> float:
    worst = math.inf
    for j in range(61):
        m = j * 0.05
        limit = v + 0.05**2 / 4
        capital = sum(
            math.prod(1 + f * ((x - m) ** 2 / limit - 1) for x in scores) / 6
            for f in (0.02, 0.05, 0.1, 0.2, 0.4, 0.75)
        )
        worst = min(worst, capital)
    return worst


@settings(max_examples=10, deadline=None)
@given(st.lists(HALVES, min_size=2, max_size=40))
def test_ends_are_those_of_the_two_gamblers(scores):
    low, high = (float(end[0]) for end in instability_sequence([scores]))
    for g in range(1, 100):
        v = (g / 100 * 1.5) ** 2
        if g / 100 >= high + 1e-9:
            assert upper_capital(scores, v) >= 25 * (1 - 1e-9)
        if g / 100 <= low + 1e-9:
            assert lower_capital(scores, v) >= 100 * (1 - 1e-9)
    if high < 0.99:
        assert upper_capital(scores, ((round(high * 100) - 1) / 100 * 1.5) ** 2) < 25 * (1 + 1e-9)
    if low < 0.99:
        assert lower_capital(scores, ((round(low * 100) + 1) / 100 * 1.5) ** 2) < 100 * (1 + 1e-9)


def test_factors_are_fair_at_best_under_the_hypothesis():
    """Mean of one factor, exactly, for many distributions with variance v and any mean guessed beforehand."""
    rng = np.random.default_rng(5)
    values = np.arange(7) / 2
    for _ in range(300):
        weights = rng.dirichlet(np.full(7, 0.3))
        v = weights @ values**2 - (weights @ values) ** 2
        guess = rng.uniform(0, 3)
        most = max(guess, 3 - guess) ** 2
        factor = 1 - 0.99 * ((values - guess) ** 2 - v) / (most - v)
        assert factor.min() >= 0
        assert weights @ factor <= 1 + 1e-9
        mean = weights @ values
        nearest = round(mean / 0.05) * 0.05
        assert weights @ (1 + 0.75 * ((values - nearest) ** 2 / (v + 0.05**2 / 4) - 1)) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("values", "weights"),
    [([3.0, 0.0], [0.9775, 0.0225]), ([1.0, 1.5, 2.0], [1 / 3] * 3), ([0.0, 3.0], [0.5, 0.5])],
)
def test_rarely_leaves_the_truth_however_often_one_looks(values, weights):
    values, weights = np.array(values), np.array(weights)
    truth = math.sqrt(weights @ values**2 - (weights @ values) ** 2) / 1.5
    scores = list(np.random.default_rng(7).choice(values, size=(400, 120), p=weights))
    threshold = min(truth, 0.999)
    missed = (instability_calls(scores, range(1, 121), threshold=threshold) != 0).any(axis=1).sum()
    # 400 × 0.05 = 20; 31 or more have probability below 1 %.
    assert missed <= 30


def test_equal_scores_need_150_runs_where_a_fixed_n_needs_129():
    calls = instability_calls([[3.0] * 200], range(1, 201))[0]
    assert (calls[:149] == 0).all()
    assert (calls[149:] == -1).all()
    low, high = instability_sequence([[3.0] * 150])
    assert (low[0], high[0] < 0.3) == (0, True)
    assert unseen_bound([3.0] * 129) < 0.3 < unseen_bound([3.0] * 128)


def test_a_fair_coin_between_the_ends_is_called_unstable_at_once():
    calls = instability_calls([[0.0, 3.0] * 10], range(1, 21))[0]
    assert (calls == 1).argmax() + 1 <= 8
    assert -1 not in calls


@settings(max_examples=20, deadline=None)
@given(st.lists(HALVES, min_size=1, max_size=60))
def test_calls_agree_with_the_interval(scores):
    low, high = (float(end[0]) for end in instability_sequence([scores]))
    call = int(instability_calls([scores], [len(scores)])[0, 0])
    assert call == (1 if low >= 0.3 else -1 if high < 0.3 else 0)


def test_one_cell_does_not_depend_on_the_others():
    rng = np.random.default_rng(3)
    cells = [rng.choice([0, 1.5, 3.0], size=size) for size in (5, 40, 17)]
    together = np.array(instability_sequence(cells))
    alone = np.array([[end[0] for end in instability_sequence([cell])] for cell in cells]).T
    assert (together == alone).all()


def test_no_run_and_one_run_say_nothing():
    low, high = instability_sequence([[], [1.5]])
    assert low.tolist() == [0, 0]
    assert high.tolist() == [1, 1]
    assert instability_calls([[], [3.0]], [0, 1, 5]).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("scores", [[math.nan, 3.0], [3.5], [-1.0, 0.0]])
def test_scores_missing_or_out_of_range_are_refused(scores):
    with pytest.raises(StatisticsError):
        instability_sequence([scores])
