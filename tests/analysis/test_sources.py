"""The source's metrics beside ours: pairing, numbers, what is missing, and how to look at a run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dsqa import report
from dsqa.errors import ReportError
from dsqa.report.source_pairs import pair_metrics, source_values
from tests.report.study import make_study


@pytest.fixture(scope="module")
def page(imported):
    return report.open_page(imported.root, resamples=99)


@pytest.fixture(scope="module")
def sources(page):
    return report.read_sources(page)


def test_metrics_are_paired_by_meaning(sources):
    pairs = {pair.metric: pair.ours for pair in sources.pairs}
    assert pairs == {
        "runtime": "seconds", "words": "words_out", "tokens": "tokens_total", "input_words": "words_in",
        "input_tokens_gpt_4o": "tokens_in", "verbosity_ratio_words": "word_ratio",
        "verbosity_ratio_tokens": "token_ratio", "complete_ratio": "completion", "accuracy": "accuracy",
        "code_execute": "executability_repository", "Similarity_Jaccard": "jaccard_first",
    }  # fmt: skip
    assert sources.unpaired == ("status", "image_id")


def test_agreement_is_what_the_files_were_made_with(sources):
    # The response says the answer that was marked; our count of words has "answer" and its number on top.
    assert sources.agreement["accuracy"].kappa == 1
    assert sources.agreement["accuracy"].n == 448
    assert sources.agreement["words"].difference == -2
    assert sources.agreement["words"].limits == (-2, -2)
    assert sources.agreement["runtime"].share_equal == 1
    # Code was never run: all of ours are 0, a third of theirs.
    assert sources.agreement["code_execute"].share_equal == pytest.approx(1 / 3, abs=0.06)


def test_missing_marks_are_counted_and_not_compared(page, sources):
    line = next(row for row in str(report.sources_missing(page, sources)).split("\n") if row.startswith("| accuracy"))
    assert [cell.strip() for cell in line.strip("| ").split("|")][2:] == ["448", "0", "224", "0"]


def test_worst_runs_come_with_a_command_and_the_source_row(page, sources):
    text = str(report.sources_worst(page, sources, rows=2))
    assert "dsqa show" in text
    assert "\\.jsonl\\:" in text
    assert "[runtime]" not in text  # no run differs there
    ours = page.outcomes["executability_repository"].to_numpy(dtype=float)
    assert np.nanmax(np.abs(sources.values["code_execute"] - ours)) == 2


def test_a_pair_that_is_named_goes_before_the_meaning(page):
    chosen = report.read_sources(page, pairs={"tokens": "tokens_out", "accuracy": None})
    assert {"tokens": "tokens_out"}.items() <= {pair.metric: pair.ours for pair in chosen.pairs}.items()
    assert "accuracy" in chosen.unpaired


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ({"tokenz": "tokens_out"}, "no metric 'tokenz'.*tokens"),
        ({"tokens": "answer"}, "'answer' is no number of a run"),
    ],
)
def test_a_pair_that_cannot_be_is_refused(page, pairs, said):
    with pytest.raises(ReportError, match=said):
        report.read_sources(page, pairs=pairs)


def test_words_that_are_marks_are_numbers(imported, tmp_path, monkeypatch):
    outcomes = pd.DataFrame({"question_id": ["q"] * 4, "condition_id": "c", "run": range(4)})
    table = outcomes.assign(metric="correct", value=[None, None, None, 1.0], text=["C", "Incorrect", "perhaps", None])
    path = tmp_path / "source_metrics.parquet"
    table.astype({"value": "float64", "text": "string"}).to_parquet(path)
    folder = type(imported)(tmp_path)
    np.testing.assert_array_equal(source_values(folder, outcomes)["correct"], [1, 0, np.nan, 1])


def test_of_two_meanings_the_closest_is_taken(page):
    outcomes = page.outcomes
    near = {"score": outcomes["accuracy"].to_numpy(dtype=float)}
    assert pair_metrics(near, outcomes)[0].ours == "accuracy"
    near = {"score": outcomes["score"].to_numpy(dtype=float)}
    assert pair_metrics(near, outcomes)[0].ours == "score"


def test_a_study_without_a_source_says_so_in_one_sentence(tmp_path):
    page = report.open_page(make_study(tmp_path / "s", questions=2, runs=3).root, resamples=99)
    sources = report.read_sources(page)
    lead = str(report.sources_lead(page, sources))
    assert lead.count(".") == 1
    assert "not imported" in lead
    assert report.sources_table(page, sources) == report.sources_missing(page, sources) == ""
    assert report.sources_worst(page, sources) == ""


def test_design_note_names_what_is_biased_and_only_where_asked(page, tmp_path):
    assert report.design_note(page) == ""  # complete
    folder = make_study(tmp_path / "s", questions=8, runs=6)
    outcomes = pd.read_parquet(folder.outcomes_path)
    outcomes[(outcomes["run"] < 2) | (outcomes["question_id"] > "q04")].to_parquet(folder.outcomes_path)
    short = report.open_page(folder.root, resamples=99)
    note = str(report.design_note(short))
    assert note.startswith('::: {.callout-warning title="The design is incomplete"}')
    assert "*Use instead:*" in note
    assert "**Pass\\@k" in note
    some = str(report.design_note(short, "instability"))
    assert "**Averages of instability" in some
    assert "**Pass\\@k" not in some
