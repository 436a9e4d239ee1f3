from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.errors import StatisticsError
from dsqa.stats import at_least, maj_at_k, pass_at_k, pass_hat_k, pass_interval, pass_table, summarise_cells, wilson

from .data import as_outcomes, few, reference, study

counts = st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


def test_cells_agree_with_r():
    for row in reference()["pass_k_cells"]:
        assert pass_at_k(row["n"], row["c"], row["k"]) == pytest.approx(row["pass_at_k"], rel=1e-8, abs=1e-14)
        assert pass_hat_k(row["n"], row["c"], row["k"]) == pytest.approx(row["pass_hat_k"], rel=1e-8, abs=1e-14)


def test_means_agree_with_r():
    cells = summarise_cells(as_outcomes(study()), seed=1)
    table = pass_table(cells)
    for row in reference()["pass_k_overall"]:
        mean = table[table["k"] == row["k"]][["pass_at_k", "pass_hat_k"]].mean()
        assert list(mean) == pytest.approx([row["pass_at_k"], row["pass_hat_k"]], rel=1e-8)
    table = table.merge(cells[["question_id", "condition_id", "model", "temperature"]])
    means = table.groupby(["model", "temperature", "k"])[["pass_at_k", "pass_hat_k"]].mean()
    for row in reference()["pass_k_by_model_temperature"]:
        got = means.loc[(row["model"], row["temperature"], row["k"])]
        assert list(got) == pytest.approx([row["pass_at_k"], row["pass_hat_k"]], rel=1e-8)


def test_by_listing_all_subsets():
    runs = [1, 1, 1, 0, 0, 0, 0]
    for k in range(1, 8):
        subsets = list(combinations(runs, k))
        for needed in range(k + 1):
            want = np.mean([sum(s) >= needed for s in subsets])
            assert at_least(7, 3, k, needed) == pytest.approx(want, abs=1e-15)


@few
@given(counts)
def test_order_and_range(case):
    n, c, k = case
    assert 0 <= pass_hat_k(n, c, k) <= c / n + 1e-12
    assert c / n - 1e-12 <= pass_at_k(n, c, k) <= 1
    assert pass_at_k(n, c, 1) == pass_hat_k(n, c, 1) == c / n
    # Right and wrong swapped: at least one right = not all wrong.
    assert pass_at_k(n, c, k) == pytest.approx(1 - pass_hat_k(n, n - c, k), abs=1e-12)


@few
@given(st.floats(0, 1), st.integers(1, 12), st.integers(1, 12))
def test_unbiased_for_future_runs(p, n, k):
    if k > n:
        return
    weights = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    at = sum(w * pass_at_k(n, c, k) for c, w in enumerate(weights))
    hat = sum(w * pass_hat_k(n, c, k) for c, w in enumerate(weights))
    assert (at, hat) == pytest.approx((1 - (1 - p) ** k, p**k), abs=1e-10)


def test_interval_is_the_mapped_interval_for_p():
    p = wilson(7, 10)
    hat = pass_interval(10, 7, 3, 3)
    assert (hat.low, hat.high) == pytest.approx((p.low**3, p.high**3))
    at, p = pass_interval(7, 3, 3, 1), wilson(3, 7)
    assert (at.low, at.high) == pytest.approx((1 - (1 - p.low) ** 3, 1 - (1 - p.high) ** 3))


def test_g_pass_needs_three_of_four_at_three_quarters():
    cells = pd.DataFrame({"question_id": ["q"], "condition_id": ["c"], "accuracy": [0.5], "n_scored": [8]})
    row = pass_table(cells, [4], threshold=0.75).iloc[0]
    assert row["g_pass_at_k"] == pytest.approx(at_least(8, 4, 4, 3))


def test_fewer_runs_than_k_are_refused_and_missing_in_tables():
    with pytest.raises(StatisticsError, match="4 runs are fewer than k = 5"):
        pass_at_k(4, 2, 5)
    cells = pd.DataFrame(
        {
            "question_id": ["q", "r"],
            "condition_id": "c",
            "accuracy": pd.array([0.5, None], dtype="Float64"),
            "n_scored": [4, 0],
        }
    )
    table = pass_table(cells, [1, 5])
    assert table["pass_at_k"].isna().tolist() == [False, True, True, True]
    # The interval does not need k runs, only some.
    assert table["pass_at_k_low"].isna().tolist() == [False, True, False, True]


@pytest.mark.parametrize("arguments", [(5, 6, 1), (5, -1, 1), (5, 2, 0)])
def test_impossible_counts_are_refused(arguments):
    with pytest.raises(StatisticsError):
        pass_at_k(*arguments)


def test_many_runs_do_not_overflow():
    assert pass_at_k(5000, 1, 2500) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("right", "wrong", "unparsed"), [([3], [2], 1), ([2], [2, 1], 0), ([2, 1], [3], 1), ([4], [], 2), ([], [3], 1)]
)
def test_majority_by_listing_all_subsets(right, wrong, unparsed):
    labels = [("r", i) for i, c in enumerate(right) for _ in range(c)]
    labels += [("w", i) for i, c in enumerate(wrong) for _ in range(c)] + [None] * unparsed
    for k in range(1, len(labels) + 1):
        wins = []
        for subset in combinations(labels, k):
            votes = Counter(label for label in subset if label is not None)
            top = max(votes.values(), default=0)
            tied = [label for label, count in votes.items() if count == top]
            wins.append(sum(label[0] == "r" for label in tied) / len(tied) if tied else 0.0)
        assert maj_at_k(right, wrong, k, unparsed=unparsed) == pytest.approx(np.mean(wins), abs=1e-12)


def test_majority_of_one_is_accuracy_and_of_many_follows_the_majority():
    assert maj_at_k([60], [40], 1) == pytest.approx(0.6)
    assert maj_at_k([60], [40], 51) > 0.95
    assert maj_at_k([40], [20, 20, 20], 61) > 0.95  # a plurality is enough
    assert maj_at_k([600], [500, 300], 700) > 0.95  # and nothing overflows


def test_majority_refuses_fewer_runs_than_k():
    with pytest.raises(StatisticsError, match="fewer than k"):
        maj_at_k([1], [1], 3)
