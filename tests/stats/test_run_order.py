"""Whether the order of runs matters: exact where it can be counted, and its level where it cannot."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from dsqa.stats import check_design
from dsqa.stats.run_order import last_runs, trends


def table(cells: list[list[str]], **columns: object) -> pd.DataFrame:
    """Runs of cells whose texts are given, in order."""
    rows = [
        {"question_id": f"q{q:03d}", "condition_id": "c", "run": run, "status": "answered", "text_hash": text,
         "answer_key": text, "score": 1.0}
        for q, texts in enumerate(cells) for run, text in enumerate(texts)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**columns)


def until_it_changes(rng: np.random.Generator, cells: int, p: float, most: int) -> list[list[str]]:
    made = []
    for _ in range(cells):
        texts = ["a"]
        while len(texts) < most and texts[-1] == "a":
            texts.append("b" if rng.random() < p else "a")
        made.append(texts)
    return made


def test_asked_until_the_first_change_is_seen_in_every_cell() -> None:
    cells = [texts for texts in until_it_changes(np.random.default_rng(1), 300, 0.2, 12) if len(texts) > 2]
    changed = [texts for texts in cells if texts[-1] == "b"]
    [text, answer] = last_runs(table(cells))
    assert (text.cells, text.new) == (len(changed), len(changed))
    # Each has one run that differs: its place is uniform in a fixed design.
    assert text.expected == pytest.approx(sum(1 / len(texts) for texts in changed))
    assert text.p < 1e-12
    assert answer.p == pytest.approx(text.p)
    found = check_design(table(cells))
    [finding] = [f for f in found.findings if f.fault == "stopped by result"]
    assert f"{len(changed)} end with a text that no other of their runs has" in finding.text
    assert "asked until something new came" in finding.text
    assert {bias.family for bias in found.biases if bias.fault == "stopped by result"} == {
        "pooled means", "instability", "at k", "correlation",
    }  # fmt: skip


def test_asked_until_an_answer_came_again_is_seen_too() -> None:
    rng = np.random.default_rng(2)
    made = []
    for _ in range(60):
        texts = [str(rng.integers(12))]
        while len(set(texts)) == len(texts):
            texts.append(str(rng.integers(12)))
        made.append(texts)
    [text, _] = last_runs(table([texts for texts in made if len(texts) > 2]))
    assert text.new == 0
    assert text.p < 0.01
    assert "until something came again" in check_design(table([t for t in made if len(t) > 2])).text


def test_p_is_the_share_of_orders() -> None:
    cells = [["a", "a", "b"], ["a", "b", "c", "a"], ["a", "a", "a", "b"]]
    orders = [[texts[-1] for texts in permutations(cell)] for cell in cells]
    counts = [[last for last in own if cell.count(last) == 1] for own, cell in zip(orders, cells, strict=True)]
    chance = [len(single) / len(own) for single, own in zip(counts, orders, strict=True)]
    assert chance == [1 / 3, 1 / 2, 1 / 4]
    [text, _] = last_runs(table(cells))
    assert (text.new, text.expected) == (2, pytest.approx(sum(chance)))
    at_least_two = 1 / 3 * 1 / 2 * 3 / 4 + 1 / 3 * 1 / 2 * 1 / 4 + 2 / 3 * 1 / 2 * 1 / 4 + 1 / 3 * 1 / 2 * 1 / 4
    # Texts and answers are the same here, so Holm doubles what two-sidedness doubled.
    assert text.p == pytest.approx(min(1.0, 2 * min(1.0, 2 * at_least_two)))


def test_a_drift_of_the_score_is_seen_and_fixed_designs_are_not_accused() -> None:
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(200):
        values = rng.integers(3, size=(20, 8))
        fixed = table([[str(v) for v in row] for row in values], score=values.ravel().astype(float))
        alarms += any(row.p < 0.01 for row in (*last_runs(fixed), *trends(fixed)))
    # Four tests in two families at 0.01 each: 0.02 at most; of 200, 12 or more come with probability 0.0006.
    assert alarms < 12
    falling = (rng.random((30, 10)) < np.linspace(0.9, 0.1, 10)).astype(float) * 3
    runs = table([["x"] * 10] * 30, score=falling.ravel())
    [score] = trends(runs)
    assert score.slope < 0
    assert score.p < 1e-6
    assert "the score falls by" in check_design(runs).text


def test_trend_agrees_with_permutations() -> None:
    rng = np.random.default_rng(4)
    values = rng.integers(7, size=(12, 6)) / 2
    [score] = trends(table([["x"] * 6] * 12, score=values.ravel()))
    i = np.arange(6) - 2.5
    drawn = sum(rng.permuted(np.broadcast_to(row, (20_000, 6)), axis=1) @ i for row in values)
    p = np.mean(np.abs(drawn) >= abs((values @ i).sum()) - 1e-9)
    assert score.p == pytest.approx(p, abs=0.02)


def test_cells_that_can_not_tell_say_nothing() -> None:
    assert last_runs(table([["a", "b"], ["a"], ["a", "a", "a"], ["a", "b", "c"]])) == []
    assert trends(table([["a"] * 5] * 20)) == []
    failed = table([["a", "a", "b"]] * 30, status="failed", score=0.0)
    assert last_runs(failed) == []
    assert trends(failed) == []


def test_blocks_of_questions_and_of_runs_are_named() -> None:
    rows = [
        {"question_id": f"q{q:02d}", "condition_id": c, "run": run, "status": "answered", "score": float(run % 2)}
        for q in range(12) for c in ("alpha", "beta") for run in range(10)
        if (q < 8 if c == "alpha" else q >= 4) and not (c == "beta" and 3 <= run < 6)
    ]  # fmt: skip
    text = check_design(pd.DataFrame(rows)).text
    assert "They lie in 2 blocks: 4 under alpha only; 4 under beta only." in text
    assert "In every cell of beta 3 of the runs 3 to 5 are missing." in text
