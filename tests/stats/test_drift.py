"""Two studies compared: exact tests by other means, error rates, and what cannot be compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dsqa.errors import StatisticsError
from dsqa.stats.drift import compare_studies
from dsqa.stats.drift.compare import _newcombe
from dsqa.stats.drift.permutation import cell_null, p_value
from tests.support.synthetic import synthetic_outcomes


def study(cells: dict[str, list[str]], *, model: str = "m", temperature: float | None = 1.0, prompt: str = "p"):
    """Return outcomes from the answers to each question; the answer "right" is right."""
    rows = [
        {
            "question_id": question,
            "model": model,
            "temperature": temperature,
            "prompt_hash": prompt,
            "answer_key": answer,
            "accuracy": int(answer == "right"),
            "score": 3.0 if answer == "right" else 1.0,
        }
        for question, answers in cells.items()
        for answer in answers
    ]
    return pd.DataFrame(rows).astype({"temperature": "Float64"})


def answers(right: int, **others: int) -> list[str]:
    return ["right"] * right + [name for name, times in others.items() for _ in range(times)]


def null_of(old: list[str], new: list[str], permutations: int = 40_000):
    rows = [("old", a, float(a == "right")) for a in old] + [("new", a, float(a == "right")) for a in new]
    cell = pd.DataFrame(rows, columns=["side", "answer", "accuracy"])
    return cell_null(cell, permutations, np.random.default_rng(1))


@pytest.mark.parametrize(("old", "new", "runs"), [(3, 9, 10), (0, 3, 10), (10, 4, 20), (5, 5, 10)])
def test_accuracy_p_value_is_fishers(old: int, new: int, runs: int) -> None:
    # Equal numbers of runs: the hypergeometric is symmetric, and |difference| orders tables as Fisher does.
    null = null_of(answers(old, wrong=runs - old), answers(new, wrong=runs - new))
    expected = stats.fisher_exact([[old, runs - old], [new, runs - new]]).pvalue
    assert p_value(null.difference, two_sided=True) == pytest.approx(expected, abs=0.012)


def test_chi_square_is_pearsons() -> None:
    null = null_of(answers(6, a=3, b=1), answers(2, a=3, b=7))
    expected = stats.chi2_contingency([[6, 3, 1], [2, 3, 7]], correction=False).statistic
    assert null.chi_square[0] == pytest.approx(expected, rel=1e-12)


def test_answers_p_value_is_that_of_the_exact_permutation_test() -> None:
    old, new = answers(3, a=1), answers(0, a=2, b=2)
    null = null_of(old, new)
    data = np.array(old + new)

    def chi_square(x: np.ndarray, y: np.ndarray) -> float:
        counts = [[(side == level).sum() for level in np.unique(data)] for side in (x, y)]
        return stats.chi2_contingency(counts, correction=False).statistic

    codes = np.unique(data, return_inverse=True)[1]
    exact = stats.permutation_test(
        (codes[:4].astype(float), codes[4:].astype(float)),
        lambda x, y: (
            stats.chi2_contingency(
                [[(side == k).sum() for k in range(3)] for side in (x, y)], correction=False
            ).statistic
        ),
        alternative="greater",
        n_resamples=np.inf,
    )
    assert chi_square(data[:4], data[4:]) == pytest.approx(null.chi_square[0])
    assert p_value(null.chi_square, two_sided=False) == pytest.approx(exact.pvalue, abs=0.01)


def test_newcombes_interval_is_the_published_one() -> None:
    # Newcombe (1998), table II, method 10: 56/70 − 48/80 → 0.0524 to 0.3339; 9/10 − 3/10 → 0.1705 to 0.8090.
    assert _newcombe(48, 56, 80, 70) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert _newcombe(3, 9, 10, 10) == pytest.approx((0.1705, 0.8090), abs=5e-5)


def test_each_verdict() -> None:
    old = study({"up": answers(0, a=20), "down": answers(20), "other": answers(0, a=20), "same": answers(10, a=10)})
    new = study({"up": answers(20), "down": answers(0, a=20), "other": answers(0, b=20), "same": answers(10, a=10)})
    drift = compare_studies(old, new, seed=1)
    changes = dict(zip(drift.questions["question_id"], drift.questions["change"], strict=True))
    assert changes == {"up": "better", "down": "worse", "other": "other answers", "same": "no change seen"}
    assert drift.questions["question_id"].tolist() == ["up", "down", "other", "same"]
    # Up and down cancel in the mean; the answers have changed all the same.
    assert drift.verdict == "other answers"
    assert drift.overall.set_index("measure").loc["accuracy", "difference"] == 0


def test_overall_means_are_over_questions() -> None:
    old = study({"a": answers(5, x=5), "b": answers(0, x=40)})
    new = study({"a": answers(10), "b": answers(10, x=30)})
    row = compare_studies(old, new, seed=1).overall.set_index("measure").loc["accuracy"]
    assert (row["old"], row["new"]) == (0.25, 0.625)
    assert row["low"] < 0.375 < row["high"]


def test_equivalence_needs_the_whole_interval_inside_the_margin() -> None:
    many = {f"q{i}": answers(100, x=100) for i in range(10)}
    few = {"q": answers(5, x=5)}
    assert compare_studies(study(many), study(many), seed=1).overall["equivalence"].iloc[0] == "equivalent"
    assert compare_studies(study(few), study(few), seed=1).overall["equivalence"].iloc[0] == "undecided"


def test_nothing_changed_is_called_a_change_no_more_often_than_promised() -> None:
    rng = np.random.default_rng(5)
    alarms = {"accuracy": 0, "answers": 0}
    for _ in range(400):
        p = rng.dirichlet([1, 1, 1])
        old, new = (answers(k[0], x=k[1], y=k[2]) for k in rng.multinomial(8, p, size=2))
        null = null_of(old, new, 199)
        alarms["accuracy"] += p_value(null.difference, two_sided=True) <= 0.05
        alarms["answers"] += p_value(null.chi_square, two_sided=False) <= 0.05
    # 400 trials at 5 %: more than 35 would come once in 2,500.
    assert max(alarms.values()) <= 35


@settings(max_examples=5, deadline=None)
@given(st.permutations(range(24)))
def test_row_order_does_not_matter(order: list[int]) -> None:
    old = study({"a": answers(4, x=8), "b": answers(9, x=3)})
    new = study({"a": answers(7, x=5), "b": answers(9, y=3)})
    plain, shuffled = (compare_studies(old, t, seed=3) for t in (new, new.iloc[order]))
    pd.testing.assert_frame_equal(plain.questions, shuffled.questions)
    assert plain.p_answers == shuffled.p_answers


def test_a_question_asked_otherwise_or_once_only_is_named_and_left_out() -> None:
    old = pd.concat([study({"a": answers(2, x=2), "gone": answers(1)}), study({"b": answers(1)}, prompt="one")])
    new = pd.concat([study({"a": answers(2, x=2), "come": answers(1)}), study({"b": answers(1)}, prompt="two")])
    drift = compare_studies(old, new, seed=1)
    changes = dict(zip(drift.questions["question_id"], drift.questions["change"], strict=True))
    assert changes == {"a": "no change seen", "b": "asked otherwise", "gone": "only in old", "come": "only in new"}


def test_another_version_of_the_one_model_is_compared_and_other_models_are_not() -> None:
    cells = {"a": answers(2, x=2)}
    drift = compare_studies(study(cells, model="v1"), study(cells, model="v2"), seed=1)
    assert len(drift.questions) == 1
    both = pd.concat([study(cells, model="v1"), study(cells, model="w1")])
    with pytest.raises(StatisticsError, match="no model in common"):
        compare_studies(both, study(cells, model="v2"), seed=1)


def test_temperatures_are_not_mixed_and_none_is_a_temperature_too() -> None:
    cells = {"a": answers(2, x=2)}
    with pytest.raises(StatisticsError, match="same prompt, model and temperature"):
        compare_studies(study(cells, temperature=0.2), study(cells, temperature=1.0), seed=1)
    drift = compare_studies(study(cells, temperature=None), study(cells, temperature=None), seed=1)
    assert drift.verdict == "no change seen"


def test_one_run_each_has_no_instability_but_a_comparison() -> None:
    drift = compare_studies(study({"a": answers(1)}), study({"a": answers(0, x=1)}), seed=1)
    assert drift.overall.set_index("measure").loc["instability", "method"].startswith("not available")
    assert drift.verdict == "no change seen"


def test_two_conditions_are_strata_not_a_pool() -> None:
    # Simpson: within each temperature nothing changes, pooled the shares do.
    old = pd.concat([study({"a": answers(20)}, temperature=0.2), study({"a": answers(0, x=5)}, temperature=1.0)])
    new = pd.concat([study({"a": answers(5)}, temperature=0.2), study({"a": answers(0, x=20)}, temperature=1.0)])
    drift = compare_studies(old, new, seed=1)
    assert drift.p_accuracy == 1.0
    assert drift.questions["difference"].iloc[0] == 0


def test_on_a_whole_outcome_table() -> None:
    same = synthetic_outcomes(seed=1, questions=8)
    drift = compare_studies(same, synthetic_outcomes(seed=2, questions=8), seed=1)
    assert drift.verdict == "no change seen"
    assert len(drift.questions) == 8


@pytest.mark.parametrize(("changes", "said"), [({"margin": 0}, "positive"), ({"alpha": 0}, "between 0 and 1")])
def test_settings_out_of_range_are_refused(changes: dict, said: str) -> None:
    with pytest.raises(StatisticsError, match=said):
        compare_studies(study({"a": answers(1)}), study({"a": answers(1)}), seed=1, **changes)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(StatisticsError, match="answer_key"):
        compare_studies(study({"a": answers(1)}), study({"a": answers(1)}).drop(columns="answer_key"), seed=1)
