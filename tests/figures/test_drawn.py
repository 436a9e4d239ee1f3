"""What is drawn is what was passed in: artists' positions against tables made by hand."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection

from dsqa.figures import StudyTables
from dsqa.figures.accuracy import accuracy_instability_figure
from dsqa.figures.answers import answers_data, answers_figure, answers_of
from dsqa.figures.by_temperature import (
    similarity_by_temperature_data,
    similarity_by_temperature_figure,
    tokens_by_temperature_figure,
)
from dsqa.figures.instability import instability_data, instability_figure
from dsqa.figures.question_map import question_map_data, question_map_figure


def hand_cells() -> pd.DataFrame:
    rows = [
        # question, category, level, temperature, instability + interval, accuracy + interval, verdict, settled
        ("a", "Clustering", "hard", 0.2, 0.10, 0.05, 0.20, 0.9, 0.6, 0.98, "stable and right", True),
        ("b", "Clustering", "easy", 0.2, 0.00, 0.00, 0.05, 0.0, 0.0, 0.28, "stable and wrong", True),
        ("c", "PCA", "medium", 0.2, 0.70, 0.50, 0.80, 0.5, 0.24, 0.76, "unstable", True),
        ("a", "Clustering", "hard", 1.0, 0.40, 0.25, 0.55, 0.7, 0.4, 0.89, "unstable", False),
        ("b", "Clustering", "easy", 1.0, 0.20, 0.10, 0.28, 0.1, 0.02, 0.4, "stable and wrong", True),
        ("c", "PCA", "medium", 1.0, 0.80, 0.60, 0.95, 0.4, 0.17, 0.69, "unstable", True),
    ]
    columns = [
        "question_id", "category", "level", "temperature", "instability", "instability_low", "instability_high",
        "accuracy", "accuracy_low", "accuracy_high", "verdict", "settled",
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=columns)
    table["condition_id"] = [f"m_t{t:g}_0" for t in table["temperature"]]
    return table.assign(study="s", endpoint="default", model="m", runs=10)


def hand_outcomes(answers: dict[str, list[str | None]], right: str = "x=42") -> pd.DataFrame:
    rows = [
        {
            "question_id": "q", "condition_id": condition, "endpoint": "default", "model": condition,
            "temperature": 1.0, "run": run, "answer_key": key,
            "answer_status": "unparsed" if key is None else "matched" if key == right else "mismatched",
        }
        for condition, keys in answers.items()
        for run, key in enumerate(keys)
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"answer_key": "string", "answer_status": "string", "run": "Int64"})


def points(axes) -> list[tuple[float, float]]:
    found = [c for c in axes.collections if isinstance(c, PathCollection)]
    return [(round(float(x), 9), round(float(y), 9)) for c in found for x, y in c.get_offsets()]


def segments(axes) -> list[list[tuple[float, float]]]:
    return [
        [(round(float(x), 9), round(float(y), 9)) for x, y in line]
        for c in axes.collections
        if isinstance(c, LineCollection)
        for line in c.get_segments()
    ]


def answers_on(outcomes: pd.DataFrame):
    return answers_of(StudyTables(outcomes, outcomes))


def test_instability_dots_and_intervals_stand_where_the_table_says():
    cells = hand_cells()
    left, right = instability_figure(cells).axes
    labels = [text.get_text() for text in left.get_yticklabels()]
    assert labels == ["Clustering", "b", "a", "PCA", "c"]
    place = dict(zip(labels, left.get_yticks(), strict=True))
    for axes, heat in ((left, 0.2), (right, 1.0)):
        here = cells[cells["temperature"] == heat]
        assert sorted(points(axes)) == sorted(
            (x, round(place[q], 9)) for q, x in zip(here["question_id"], here["instability"], strict=True)
        )
        expected = [
            [(low, round(place[q], 9)), (high, round(place[q], 9))]
            for q, low, high in zip(
                here["question_id"], here["instability_low"], here["instability_high"], strict=True
            )
        ]
        assert sorted(segments(axes)) == sorted(expected)


def test_instability_mark_is_drawn_and_labelled():
    for axes in instability_figure(hand_cells()).axes:
        verticals = [line for line in axes.lines if len(set(line.get_xdata())) == 1]
        assert [line.get_xdata()[0] for line in verticals] == [0.3]
        assert any(text.get_text().strip() == "notable from 0.3" for text in axes.texts)


def test_instability_data_is_sorted_by_category_level_question_condition():
    data = instability_data(hand_cells())
    assert list(data["question_id"]) == ["b", "b", "a", "a", "c", "c"]
    assert list(data["condition"][:2]) == ["T = 0.2", "T = 1"]


def test_grouped_instability_keeps_every_value_and_shows_the_quartiles():
    cells = pd.concat([hand_cells().assign(question_id=lambda t, i=i: t["question_id"] + str(i)) for i in range(18)])
    cells["instability"] = np.linspace(0, 1, len(cells))
    figure = instability_figure(cells)
    left = figure.axes[0]
    here = cells[cells["temperature"] == 0.2]
    assert sorted(x for x, _ in points(left)) == sorted(round(v, 9) for v in here["instability"])
    bars = [s for s in segments(left) if s[0][1] == s[1][1]]
    pca = here.loc[here["category"] == "PCA", "instability"].quantile([0.25, 0.75])
    assert any(np.allclose([s[0][0], s[1][0]], pca) for s in bars)


def test_accuracy_marks_and_wilson_intervals_stand_where_the_table_says():
    cells = hand_cells()
    left, _ = accuracy_instability_figure(cells).axes
    here = cells[cells["temperature"] == 0.2]
    assert sorted(points(left)) == sorted(zip(here["instability"], here["accuracy"], strict=True))
    for x, low, high in zip(here["instability"], here["accuracy_low"], here["accuracy_high"], strict=True):
        assert [(x, low), (x, high)] in segments(left)
    for y, low, high in zip(here["accuracy"], here["instability_low"], here["instability_high"], strict=True):
        assert [(low, y), (high, y)] in segments(left)


def test_accuracy_regions_meet_at_the_mark_and_one_half():
    left, _ = accuracy_instability_figure(hand_cells()).axes
    boxes = {round(p.get_x() + p.get_width(), 9): p for p in left.patches}
    assert set(boxes) == {0.3, 1.06}
    assert {round(p.get_y(), 9) for p in left.patches} == {0.5, -0.08}


def test_accuracy_cells_in_one_place_are_counted():
    cells = hand_cells()
    same = pd.concat([cells.assign(question_id=f"q{i}", instability=0.1, accuracy=1.0) for i in range(3)])
    same = same[same["temperature"] == 0.2].assign(verdict="stable and right")
    (axes,) = accuracy_instability_figure(same).axes
    assert points(axes) == [(0.1, 1.0)]
    assert "×9" in [text.get_text() for text in axes.texts]


def test_map_prints_every_number_with_its_verdict():
    figure = question_map_figure(hand_cells())
    (axes,) = figure.axes
    assert [t.get_text() for t in axes.get_yticklabels()] == ["b", "a", "c"]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["T = 0.2", "T = 1"]
    printed = {(t.get_position()[1] - 0.5, t.get_position()[0] - 0.5): t.get_text() for t in axes.texts}
    assert printed == {
        (0, 0): "0.00 ✗", (0, 1): "0.20 ✗",
        (1, 0): "0.10 ✓", (1, 1): "0.40 (~)",
        (2, 0): "0.70 ~", (2, 1): "0.80 ~",
    }  # fmt: skip


def test_map_shades_are_the_values():
    (axes,) = question_map_figure(hand_cells()).axes
    mesh = axes.collections[0]
    assert np.allclose(np.asarray(mesh.get_array()).ravel(), [0.0, 0.2, 0.1, 0.4, 0.7, 0.8])
    assert mesh.get_clim() == (0, 1)


def test_map_data_is_sorted_by_the_least_favourable_verdict():
    assert list(dict.fromkeys(question_map_data(hand_cells())["question_id"])) == ["b", "a", "c"]


def test_answers_counts_and_shares_of_all_runs():
    outcomes = hand_outcomes({"m1": ["x=42"] * 6 + ["x=1"] * 2 + [None] * 2})
    data = answers_data(answers_on(outcomes))
    rows = {a: (n, s, r) for a, n, s, r in zip(data["bar"], data["count"], data["share"], data["right"], strict=True)}
    assert rows == {"x=42": (6, 0.6, True), "x=1": (2, 0.2, False), "no answer read": (2, 0.2, False)}


def test_answers_bars_are_the_shares_and_the_right_one_is_marked():
    outcomes = hand_outcomes({"m1": ["x=42"] * 6 + ["x=1"] * 2 + [None] * 2, "m2": ["x=1"] * 5 + ["x=42"] * 5})
    (axes,) = answers_figure(answers_on(outcomes)).axes
    labels = [t.get_text() for t in axes.get_yticklabels()]
    assert labels == ["42 ✓", "1", "no answer read"]
    drawn = {(round(p.get_y() + p.get_height() / 2, 3), round(p.get_width(), 9)) for p in axes.patches}
    assert drawn == {(-0.2, 0.6), (0.2, 0.5), (0.8, 0.2), (1.2, 0.5), (1.8, 0.2)}


def test_answers_beyond_the_top_four_are_pooled_but_the_right_one_never():
    keys = [f"x={i}" for i in range(6) for _ in range(7 - i)]
    outcomes = hand_outcomes({"m1": [*keys, "x=42"]})
    data = answers_data(answers_on(outcomes)).set_index("answer")
    assert list(data.index[data["bar"] == "other answers"]) == ["x=4", "x=5"]
    assert data.loc["x=42", "bar"] == "x=42"
    assert data["count"].sum() == len(outcomes)


def test_answers_a_single_one_left_over_is_named():
    outcomes = hand_outcomes({"m1": [f"x={i}" for i in range(5) for _ in range(6 - i)]})
    assert "other answers" not in set(answers_data(answers_on(outcomes))["bar"])


def test_answers_names_stay_where_a_question_has_several_parts():
    outcomes = hand_outcomes({"m1": ["a=1; b=2", "a=1; b=3"]}, right="a=1; b=2")
    (axes,) = answers_figure(answers_on(outcomes)).axes
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a=1; b=2 ✓", "a=1; b=3"]


def test_answers_of_runs_cut_off_still_count_as_right_answers():
    outcomes = hand_outcomes({"m1": ["x=42", "x=1"]}).assign(completion=0, accuracy=0)
    assert bool(answers_data(answers_on(outcomes)).set_index("answer").loc["x=42", "right"])


def hand_runs() -> pd.DataFrame:
    rows = [
        ("q", "m", t, run, 100 + 50 * t + run, 1.0 if run == 0 else 0.5 + run / 100)
        for t in (0.2, 1.0)
        for run in range(5)
    ]
    table = pd.DataFrame(
        rows, columns=["question_id", "model", "temperature", "run", "tokens_total", "jaccard_first"]
    )
    return table.assign(condition_id=[f"m_t{t:g}_0" for t in table["temperature"]], endpoint="default")


def test_tokens_points_keep_their_values_and_stay_in_their_column():
    runs = hand_runs()
    (axes,) = tokens_by_temperature_figure(runs).axes
    assert [t.get_text() for t in axes.get_xticklabels()] == ["0.2", "1"]
    for x, heat in enumerate((0.2, 1.0)):
        mine = [(px, py) for px, py in points(axes) if round(px) == x]
        assert sorted(py for _, py in mine) == sorted(runs.loc[runs["temperature"] == heat, "tokens_total"])
        assert all(abs(px - x) <= 0.36 for px, _ in mine)


def test_tokens_bars_are_quartiles_median_and_the_fifth_and_ninety_fifth_percentile():
    runs = hand_runs()
    (axes,) = tokens_by_temperature_figure(runs).axes
    values = runs.loc[runs["temperature"] == 0.2, "tokens_total"]
    q = [float(v) for v in values.quantile([0.05, 0.25, 0.5, 0.75, 0.95])]
    spans = {(round(s[0][1], 6), round(s[1][1], 6)) for s in segments(axes)}
    assert {(q[0], q[4]), (q[1], q[3]), (q[2], q[2])} <= {(round(a, 6), round(b, 6)) for a, b in spans}


def test_similarity_leaves_run_0_out():
    data = similarity_by_temperature_data(hand_runs())
    assert sorted(data["run"].unique()) == [1, 2, 3, 4]
    (axes,) = similarity_by_temperature_figure(hand_runs()).axes
    assert max(y for _, y in points(axes)) == pytest.approx(0.54)


def test_bars_are_named_as_runs_wrote_the_answer_and_not_by_its_key():
    outcomes = hand_outcomes({"m": ["true", "true", "true", "0.5", "0.5", "20", None, "a=1;b=2"]})
    written = ['{"x": "yes"}', '{"x": "Yes"}', '{"x": "yes"}', '{"x": "0.467"}', '{"x": "0.467"}', '{"x": "20 bins"}']
    outcomes["answer"] = pd.array([*written, pd.NA, '{"a": "1", "b": "2"}'], dtype="string")
    table = answers_data(answers_of(StudyTables(outcomes, outcomes)))
    assert dict(zip(table["answer"].fillna("-"), table["bar"], strict=True)) == {
        "true": "yes",
        "0.5": "0.467",
        "20": "20 bins",
        "a=1;b=2": "a 1, b 2",
        "-": "no answer read",
    }


def test_different_answers_that_are_written_alike_keep_their_keys():
    outcomes = hand_outcomes({"m": ["k1", "k2"]})
    outcomes["answer"] = pd.array(['{"x": "3"}', '{"x": "3"}'], dtype="string")
    table = answers_data(answers_of(StudyTables(outcomes, outcomes)))
    assert list(table["bar"]) == ["k1", "k2"]
