"""Every edge a study can have, by name; `conftest` turns any warning into a failure."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from dsqa.errors import ReportError
from dsqa.figures import NotApplicableError, StudyTables, draw_figure
from dsqa.figures.accuracy import accuracy_instability_caption
from dsqa.figures.answers import answers_caption, answers_data, answers_figure, answers_of, answers_pages
from dsqa.figures.by_temperature import tokens_by_temperature_caption, tokens_by_temperature_figure
from dsqa.figures.common import condition_labels, shorten, shorten_name, side_by_side
from dsqa.figures.instability import instability_caption
from dsqa.figures.question_map import (
    question_map_caption,
    question_map_data,
    question_map_figure,
    question_map_pages,
)
from dsqa.stats import summarise_cells
from tests.figures.cells import cells_of
from tests.support.synthetic import synthetic_outcomes


def check_headings(figure) -> None:
    """No heading runs into another or over the edge, and no legend does."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    titles = [axes._left_title for axes in figure.axes if axes.get_visible() and axes.get_title(loc="left")]
    boxes = [title.get_window_extent(renderer) for title in titles]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    for box in [*boxes, *(legend.get_window_extent(renderer) for legend in figure.legends)]:
        assert box.x0 >= -1
        assert box.x1 <= figure.bbox.x1 + 1
        assert box.y1 <= figure.bbox.y1 + 1


def answers_on(outcomes: pd.DataFrame):
    return answers_of(StudyTables(outcomes, cells_of(outcomes) if len(outcomes) else outcomes))


OF_CELLS = ("question-map", "instability", "accuracy-instability")
OF_RUNS = ("answers", "tokens-by-temperature", "similarity-by-temperature")


def draw_all(
    outcomes: pd.DataFrame, cells: pd.DataFrame | None = None, only: tuple[str, ...] = (*OF_CELLS, *OF_RUNS)
) -> dict[str, str]:
    """Draw every figure on every page, check that it stays on the page, and return why others do not apply."""
    tables = StudyTables(outcomes, cells_of(outcomes) if cells is None else cells, seed=1)
    left_out = {}
    for name in only:
        try:
            drawn = list(draw_figure(name, tables))
        except NotApplicableError as error:
            left_out[name] = error.message
            continue
        for one in drawn:
            figure = one.figure
            box = figure.get_tightbbox()
            assert box.x0 >= -0.02, one.name
            assert box.x1 <= figure.get_figwidth() + 0.02, one.name
            assert box.y0 >= -0.02, one.name
            assert box.y1 <= figure.get_figheight() + 0.02, one.name
            assert figure.get_figheight() * 25.4 <= 260, one.name
            check_headings(figure)
            assert one.caption.text
            assert isinstance(one.data, pd.DataFrame)
    return left_out


def test_one_temperature():
    draw_all(synthetic_outcomes(questions=3, temperatures=(0.7,)))


def test_one_question():
    draw_all(synthetic_outcomes(questions=1))


def test_cells_as_the_stats_room_makes_them():
    outcomes = synthetic_outcomes(questions=4, runs=6)
    single = outcomes[(outcomes["question_id"] != "q03") | (outcomes["run"] == 0)]
    draw_all(single, summarise_cells(single, seed=1, resamples=99), only=OF_CELLS)


def test_several_models():
    draw_all(synthetic_outcomes(questions=3, models=("a", "b", "c")))


def test_no_temperature_sent():
    outcomes = (
        synthetic_outcomes(questions=3, temperatures=(0.2,))
        .assign(temperature=pd.NA)
        .astype({"temperature": "Float64"})
    )
    draw_all(outcomes)
    (axes,) = tokens_by_temperature_figure(outcomes).axes
    assert [t.get_text() for t in axes.get_xticklabels()] == ["not sent"]


def test_a_temperature_not_sent_comes_after_those_sent():
    sent = synthetic_outcomes(questions=2, temperatures=(1.0, 0.2))
    none = sent[sent["temperature"] == 0.2].assign(temperature=pd.NA, condition_id="model-a_tdefault_1")
    both = pd.concat([none, sent]).astype({"temperature": "Float64"})
    assert list(condition_labels(both).values()) == ["T = 0.2", "T = 1", "T not sent"]
    draw_all(both)


def test_one_run_per_cell_has_no_instability():
    outcomes = synthetic_outcomes(questions=3, runs=1)
    cells = cells_of(outcomes).assign(verdict="not known")
    draw_all(outcomes, cells)
    assert "No cell has an instability yet" in instability_caption(cells).text
    assert "yet" in accuracy_instability_caption(cells).text
    assert "– stands for 6 cells" in question_map_caption(cells).text
    assert {t.get_text() for t in question_map_figure(cells).axes[0].texts} == {"– ?"}


def test_some_cells_without_an_instability_are_counted():
    cells = cells_of(synthetic_outcomes(questions=3))
    cells.loc[0, ["instability", "instability_low", "instability_high"]] = np.nan
    cells.loc[0, "verdict"] = None
    draw_all(synthetic_outcomes(questions=3), cells, only=OF_CELLS)
    assert "Not drawn: 1 cell with fewer than two runs" in instability_caption(cells).text


def test_cells_without_intervals_keep_their_dots():
    cells = cells_of(synthetic_outcomes(questions=3))
    cells[["instability_low", "instability_high"]] = np.nan
    draw_all(synthetic_outcomes(questions=3), cells, only=OF_CELLS)
    assert "6 cells without an interval" in instability_caption(cells).text


def test_all_values_equal():
    outcomes = synthetic_outcomes(questions=2).assign(
        score=2.0, accuracy=1, tokens_total=100, jaccard_first=1.0, answer_key="x=1", answer_status="matched"
    )
    draw_all(outcomes)
    (axes,) = tokens_by_temperature_figure(outcomes).axes
    drawn = np.concatenate(
        [c.get_offsets() for c in axes.collections if hasattr(c, "get_sizes") and len(c.get_sizes())]
    )
    assert set(drawn[:, 1]) == {100.0}
    assert len({tuple(p) for p in drawn.round(9)}) == len(outcomes)


def test_all_tokens_zero():
    draw_all(synthetic_outcomes(questions=2).assign(tokens_total=0))


def test_all_runs_failed():
    outcomes = synthetic_outcomes(questions=2).assign(
        status="failed", score=0.0, accuracy=0, tokens_total=pd.NA, jaccard_first=pd.NA, answer_key=pd.NA,
        answer_status="unparsed",
    )  # fmt: skip
    draw_all(outcomes)
    assert set(answers_data(answers_on(outcomes))["bar"]) == {"no answer read"}
    assert "No run has a value" in tokens_by_temperature_caption(outcomes).text


def test_no_runs_at_all():
    outcomes = synthetic_outcomes(questions=1).iloc[:0]
    left_out = draw_all(outcomes, cells_of(synthetic_outcomes(questions=1)).iloc[:0])
    assert set(left_out.values()) == {"no run is marked yet"}


def test_long_names_are_cut_on_paper_and_whole_in_the_data():
    name, answer = "question about " + "x" * 120, "x=" + "long answer " * 30
    outcomes = synthetic_outcomes(questions=2).assign(category="A very long name of a category, longer than any axis")
    outcomes["question_id"] = outcomes["question_id"].replace({"q01": name}).astype("string")
    long = outcomes["answer_key"] == "x=1"
    outcomes.loc[long, "answer"] = json.dumps({"x": answer})
    outcomes.loc[long, "answer_key"] = answer
    outcomes["model"] = "organisation/" + "a-very-long-model-name-" * 4
    draw_all(outcomes)
    assert name in set(question_map_data(cells_of(outcomes))["question_id"])
    assert answer in set(answers_data(answers_on(outcomes))["answer"].dropna())
    labels = [t.get_text() for axes in answers_figure(answers_on(outcomes)).axes for t in axes.get_yticklabels()]
    assert any(label.endswith("…") for label in labels)
    assert max(map(len, labels)) <= 24


def test_answers_with_markup_are_printed_as_they_are():
    text = "x=$\\frac{a$ & <b>\n_{"
    outcomes = synthetic_outcomes(questions=1).assign(answer_key=text, answer_status="mismatched")
    outcomes["answer"] = json.dumps({"x": text})
    draw_all(outcomes)


def test_question_and_model_names_with_dollars_are_printed_as_they_are():
    outcomes = synthetic_outcomes(questions=2, models=("m$a_{$", "b"))
    outcomes["question_id"] = (outcomes["question_id"] + " $x_{$ a").astype("string")
    outcomes["category"] = "Cost in $ and $^"
    draw_all(outcomes)


def test_forty_one_questions_fill_even_pages():
    outcomes = synthetic_outcomes(questions=41, runs=4)
    assert answers_pages(answers_on(outcomes)) == 6
    seen = [list(dict.fromkeys(answers_data(answers_on(outcomes), page=p)["question_id"])) for p in range(1, 7)]
    assert [len(page) for page in seen] == [7, 7, 7, 7, 7, 6]
    assert list(itertools.chain(*seen)) == [f"q{i:02d}" for i in range(1, 42)]
    assert "Page 2 of 6: q08 to q14" in answers_caption(answers_on(outcomes), page=2).text


def test_many_conditions_are_pooled_and_the_caption_says_so():
    outcomes = synthetic_outcomes(questions=2, models=tuple("abcdef"), temperatures=(0.2, 0.7, 1.0), runs=4)
    draw_all(outcomes)
    assert "The 18 conditions are pooled" in answers_caption(answers_on(outcomes)).text
    data, cells = answers_data(answers_on(outcomes)), cells_of(outcomes)
    assert data["condition_id"].nunique() == 18
    (axes, _) = answers_figure(answers_on(outcomes)).axes
    assert sum(p.get_width() for p in axes.patches) == pytest.approx(1.0)
    assert question_map_pages(cells) == 2
    pages = [set(question_map_data(cells, page=p)["condition_id"]) for p in (1, 2)]
    assert [len(page) for page in pages] == [9, 9]
    assert not pages[0] & pages[1]


def test_a_hundred_questions():
    cells = cells_of(synthetic_outcomes(questions=100, temperatures=(1.0,), runs=3))
    draw_all(synthetic_outcomes(questions=2), cells, only=OF_CELLS)
    assert question_map_pages(cells) == 3


def test_a_question_that_one_condition_lacks():
    outcomes = synthetic_outcomes(questions=3)
    outcomes = outcomes[~((outcomes["question_id"] == "q02") & (outcomes["temperature"] == 1.0))]
    draw_all(outcomes)


def test_unequal_numbers_of_runs_are_told():
    outcomes = synthetic_outcomes(questions=2).iloc[1:]
    assert "4 cells of 9 to 10 runs" in answers_caption(answers_on(outcomes)).text


def test_conditions_that_differ_only_in_their_system_message_have_labels_of_their_own():
    outcomes = synthetic_outcomes(questions=1, temperatures=(1.0,))
    other = outcomes.assign(condition_id="model-a_t1_deadbeef")
    labels = condition_labels(pd.concat([outcomes, other]))
    assert list(labels.values()) == ["model-a [00000000]", "model-a [deadbeef]"]


def test_unknown_level_and_missing_category():
    outcomes = synthetic_outcomes(questions=3)
    outcomes = outcomes.assign(level="expert", category=pd.NA).astype({"category": "string"})
    draw_all(outcomes, only=OF_CELLS)


def test_missing_column_is_named():
    cells = cells_of(synthetic_outcomes(questions=1)).drop(columns=["verdict"])
    with pytest.raises(ReportError, match="'question-map' needs the column 'verdict'"):
        question_map_figure(cells)


def test_unknown_verdict_is_refused():
    cells = cells_of(synthetic_outcomes(questions=1)).assign(verdict="splendid")
    with pytest.raises(ReportError, match="'splendid' is not a verdict"):
        question_map_figure(cells)


def test_a_page_that_is_not_there_is_refused():
    with pytest.raises(ReportError, match="has no page 2"):
        answers_figure(answers_on(synthetic_outcomes(questions=1)), page=2)


@given(st.lists(st.floats(0, 1), max_size=60), st.floats(0.001, 0.5), st.floats(0.01, 0.4))
@settings(max_examples=100, deadline=None)
def test_points_laid_side_by_side_stay_within_reach_and_apart(values, bin_size, spacing):
    offsets = side_by_side(values, bin_size=bin_size, spacing=spacing, reach=0.4)
    assert np.all(np.abs(offsets) <= 0.4 + 1e-9)
    bins = np.floor(np.array(values) / bin_size)
    for place in set(bins):
        mine = offsets[bins == place]
        assert len(set(mine.round(9))) == len(mine)
        assert abs(mine.mean()) < 1e-9


def test_a_single_point_stands_in_the_middle():
    assert side_by_side([0.3], bin_size=0.1, spacing=0.1, reach=0.4).tolist() == [0.0]


def test_names_are_cut_in_the_middle_so_that_their_ends_stay():
    assert shorten_name("course-question-07", 18) == "course-question-07"
    assert shorten_name("course-question-07", 11) == "cours…on-07"


def test_models_that_differ_at_their_ends_are_told_apart():
    long = "organisation/a-very-long-name-of-a-model-"
    labels = condition_labels(synthetic_outcomes(questions=1, models=(f"{long}small", f"{long}large"), runs=1))
    assert len(set(labels.values())) == 4
    assert all(label.endswith(("T = 0.2", "T = 1")) for label in labels.values())


def test_ids_that_end_alike_still_get_labels_of_their_own():
    outcomes = synthetic_outcomes(questions=1, temperatures=(1.0,))
    labels = condition_labels(pd.concat([outcomes, outcomes.assign(condition_id="another_00000000")]))
    assert list(labels.values()) == ["model-a [00000000] #1", "model-a [00000000] #2"]


def test_long_model_names_keep_headings_and_legends_on_the_page():
    long = "organisation/a-very-long-name-of-a-model-and-its-version-"
    draw_all(synthetic_outcomes(questions=3, models=(f"{long}small", f"{long}large"), runs=4))


def test_text_is_cut_with_an_ellipsis_and_put_on_one_line():
    assert shorten("a\n b", 10) == "a b"
    assert shorten("abcdefghij", 10) == "abcdefghij"
    assert shorten("abcdefghijk", 10) == "abcdefghi…"
