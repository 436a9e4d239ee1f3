from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics import jaccard_distance

from dsqa.metrics import cell_similarity, jaccard, word_set

NAN = float("nan")


def test_jaccard_by_hand() -> None:
    left, right = word_set("The mean is 5, the MEAN!"), word_set("the median is 5")
    assert left == {"the", "mean", "is", "5"}
    assert jaccard(left, right) == 3 / 5
    assert jaccard(left, frozenset()) == 0.0
    assert jaccard(frozenset(), frozenset()) is None


def test_a_cell_by_hand() -> None:
    found = cell_similarity([word_set("a b"), word_set("b c"), word_set("a b c d")], first=0)
    assert found.first == pytest.approx([1, 1 / 3, 1 / 2])
    assert found.mean == pytest.approx([(1 / 3 + 1 / 2) / 2, (1 / 3 + 1 / 2) / 2, 1 / 2])


def test_one_run_has_no_mean() -> None:
    found = cell_similarity([word_set("a b")], first=0)
    assert found.first.tolist() == [1.0]
    assert np.isnan(found.mean).all()


def test_no_run_with_a_response() -> None:
    found = cell_similarity([None, None], first=0)
    assert np.isnan(found.first).all()
    assert np.isnan(found.mean).all()


def test_failed_runs_are_in_no_mean() -> None:
    found = cell_similarity([word_set("a b"), None, word_set("a b")], first=0)
    np.testing.assert_allclose(found.first, [1, NAN, 1])
    np.testing.assert_allclose(found.mean, [1, NAN, 1])


@pytest.mark.parametrize("texts", [[None, "a b", "a"], ["", "a b", "a"]])
def test_no_other_run_takes_the_place_of_run_0(texts: list[str | None]) -> None:
    found = cell_similarity([None if t is None else word_set(t) for t in texts], first=0)
    assert np.isnan(found.first).all()


def test_a_cell_without_run_0() -> None:
    found = cell_similarity([word_set("a"), word_set("a")], first=None)
    assert np.isnan(found.first).all()
    assert found.mean.tolist() == [1.0, 1.0]


def test_two_empty_texts_are_left_out_of_the_mean() -> None:
    found = cell_similarity([word_set("a"), word_set(""), word_set("")], first=0)
    np.testing.assert_allclose(found.mean, [0, 0, 0])
    np.testing.assert_allclose(found.first, [1, 0, 0])
    assert np.isnan(cell_similarity([word_set(""), word_set("")], first=0).mean).all()


@given(st.lists(st.frozensets(st.sampled_from("abcdefgh")), min_size=2, max_size=8))
@settings(max_examples=150, deadline=None)
def test_agrees_with_nltk(sets: list[frozenset[str]]) -> None:
    found = cell_similarity(sets, first=0)
    for i, left in enumerate(sets):
        others = [1 - jaccard_distance(left, right) for j, right in enumerate(sets) if j != i and (left or right)]
        expected = np.mean(others) if others else NAN
        np.testing.assert_allclose(found.mean[i], expected)
        if sets[0]:
            np.testing.assert_allclose(found.first[i], 1 - jaccard_distance(sets[0], left))
