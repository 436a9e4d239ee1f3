"""The DS-QA authors' run files, and runs without a ground truth through marking."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from dsqa.cli.show import show
from dsqa.errors import BankError, SourceError, StatisticsError, StudyError
from dsqa.importing.readers.ds_qa import named, truth_in
from dsqa.outcomes import score_study
from dsqa.report.page import open_page
from dsqa.report.questions import question_table
from dsqa.report.verdict import lead
from dsqa.sampling import prepare_study
from dsqa.stats import summarise_cells
from dsqa.stats.drift import compare_studies
from dsqa.study.parse import parse_study
from tests.importing.support import imported, records, write_lines


def theirs(**given: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "round": 0,
        "thread_id": "thread_abc",
        "status": "completed",
        "runtime": 12.5,
        "words": 20,
        "tokens": 30,
        "reasoning": "So @mean[35.5] it is.",
        "input_words": 240,
        "input_tokens_gpt_4o": 60,
        "common_answers": [["mean", "35.5"]],
        "verbosity_ratio_words": 12.0,
        "verbosity_ratio_tokens": 2.0,
        "complete_ratio": 1,
        "accuracy": None,
        "code_execute": 2,
        "Similarity_Jaccard": 0.83,
        "file_name": "evals.csv",
        "concepts": ["Data Summary", None],
        "level": "Easy",
        "image_id": None,
    } | given


@pytest.mark.parametrize(
    ("name", "model", "temperature", "further"),
    [
        ("evals_gpt_4o_1.jsonl", "gpt-4o", 1.0, {}),
        ("aeroplane_gpt_4o_mini_1_no_CodeInterp.jsonl", "gpt-4o-mini", 1.0, {"code_interpreter": False}),
        ("evals_gpt_4_1_mini_0_2.jsonl", "gpt-4.1-mini", 0.2, {}),
        ("duke_forest_gpt_4_1_nano_1_2.jsonl", "gpt-4.1-nano", 1.2, {}),
        ("x_gpt_4_1_0_7.jsonl.gz", "gpt-4.1", 0.7, {}),
        ("x_gpt_4_1_v2.jsonl", "gpt-4", 1.0, {"variant": "v2"}),
        ("gpt-4o-mini_0.7.jsonl", "gpt-4o-mini", 0.7, {}),
        ("x_gpt_3_5_turbo_0.jsonl", "gpt-3.5-turbo", 0.0, {}),
    ],
)
def test_names_of_files(name: str, model: str, temperature: float, further: dict[str, Any]) -> None:
    assert named(Path(name)) == (model, temperature, further)


@pytest.mark.parametrize(
    "name", ["evals.jsonl", "evals_gpt_4o.jsonl", "evals_gpt_4o_mini_warm.jsonl", "llama_1.jsonl"]
)
def test_names_that_say_nothing(name: str) -> None:
    assert named(Path(name)) is None


@pytest.mark.parametrize(
    ("given", "truth"),
    [
        ([["mean", 35.5], ["n", 12]], [("mean", "35.5"), ("n", "12")]),
        ({"mean": "35.50"}, [("mean", "35.50")]),
        ('[["mean", "35.5"]]', [("mean", "35.5")]),
        ('{"mean": 35.5}', [("mean", "35.5")]),
        ([{"mean": 1}, {"sd": 2}], [("mean", "1"), ("sd", "2")]),
        (["yes"], "yes"),
        ("[not json", "[not json"),
        ("", None),
        ([], None),
        (None, None),
    ],
)
def test_ground_truths_in_every_form(given: Any, truth: Any) -> None:
    assert truth_in(given) == truth


def test_a_run_is_taken_as_it_is(tmp_path: Path) -> None:
    folder, said = imported(tmp_path, write_lines(tmp_path / "evals_gpt_4_1_mini_0_2.jsonl", [theirs()]))
    (record,) = records(folder)
    assert (record.question_id, record.condition["model"], record.temperature) == ("7", "gpt-4.1-mini", 0.2)
    assert (record.text, record.seconds, record.response_id) == ("So @mean[35.5] it is.", 12.5, "thread_abc")
    question = next(iter(folder.bank()))
    assert (question.level, question.concepts, question.answers) == ("easy", ("Data Summary",), {"mean": "35.5"})
    table = pd.read_parquet(folder.root / "source_metrics.parquet").set_index("metric")["value"]
    assert table["verbosity_ratio_words"] == 12.0
    assert table["code_execute"] == 2
    assert math.isnan(table["accuracy"])
    assert said["format"] == "ds-qa"
    assert "1 runs have no mark in 'accuracy': missing, not wrong" in said["notes"]


def test_an_empty_mark_is_wrong_only_where_that_is_said(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "evals_gpt_4o_1.jsonl", [theirs(), theirs(round=1, accuracy=1)])
    folder, _ = imported(tmp_path, path, reading={"unfilled_accuracy": "wrong"})
    table = pd.read_parquet(folder.root / "source_metrics.parquet").query("metric == 'accuracy'")
    assert table["value"].tolist() == [0.0, 1.0]


def test_older_keys_and_pieces_of_text(tmp_path: Path) -> None:
    old = {k: v for k, v in theirs().items() if k not in {"common_answers", "complete_ratio", "input_tokens_gpt_4o"}}
    old |= {"GT": "35.5", "CR": 1, "input_tokens": 60, "reasoning": ["So", "@answer[35.5]"], "status": "failed"}
    folder, said = imported(tmp_path, write_lines(tmp_path / "evals_gpt_4o_1.jsonl", [old]))
    assert next(iter(folder.bank())).answers == {"answer": "35.5"}
    assert records(folder)[0].text == "So\n@answer[35.5]"
    assert records(folder)[0].status == "failed"
    assert {"CR", "input_tokens"} <= said["metrics"].keys()


def test_a_name_that_says_no_model_is_refused_and_can_be_helped(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "evals.jsonl", [theirs()])
    with pytest.raises(SourceError, match=r"does not say which model.*--model NAME --temperature T"):
        imported(tmp_path, path)
    folder, _ = imported(tmp_path, path, reading={"model": "gpt-4o", "temperature": 0.7})
    assert records(folder)[0].condition_id.startswith("gpt-4o_t0.7_")


def test_llm_stability_of_both_kinds(tmp_path: Path) -> None:
    new = {
        "": 0, "model": "gpt-4o", "model_config": json.dumps({"temperature": 0.0, "seed": 12, "top_p_k": 0.0}),
        "task": "navigate", "task_config": json.dumps({"prompt_type": "v2", "shots": 0}), "rubric": "{}",
        "rubric_id": 3, "question": "Left, then?", "gt": "Yes",
        "prompt": json.dumps([{"role": "user", "content": "Left, then?"}]), "run": 0, "response": "Yes, so.\nYes.",
        "date": "2024-12-14_14-31-08",
    }  # fmt: skip
    (tmp_path / "new").mkdir()
    for run in range(2):
        rows = [new | {"run": run}, new | {"run": run, "rubric_id": 4, "response": "LLM Error"}]
        pd.DataFrame(rows).to_csv(tmp_path / "new" / f"gpt-4o-0.0-navigate-0-{run}.csv", index=False)
    (tmp_path / "new" / "stability_eval.csv").write_text("model,TARr\ngpt-4o,0.5\n")
    folder, said = imported(tmp_path, [tmp_path / "new"], format_name="llm-stability")
    found = [(r.question_id, r.run, r.status, r.temperature) for r in records(folder)]
    assert found == [(f"navigate/{q}", n, s, 0.0) for n in (0, 1) for q, s in ((3, "answered"), (4, "failed"))]
    assert folder.describe().conditions[0].request == {
        "seed": 12, "top_p_k": 0.0, "task_prompt_type": "v2", "task_shots": 0,
    }  # fmt: skip
    assert said["left_out"][0]["what"].endswith("stability_eval.csv")
    old = pd.DataFrame({"pred": ["(A)"], "gt": ["(B)"], "raw_response": ["It is (A)."], "raw_input": ["Which? A:"]})
    for run in range(2):
        old.to_csv(tmp_path / f"gpt-4o_mmlu_college_mathematics_{run}.csv", index=False)
    folder.root.rename(tmp_path / "first")
    folder, said = imported(tmp_path, sorted(tmp_path.glob("gpt-4o_mmlu*.csv"))[:1])
    assert said["format"] == "llm-stability"
    assert [(r.condition["model"], r.run, r.text) for r in records(folder)] == [("gpt-4o", 0, "It is (A).")]


@pytest.fixture(scope="module")
def half_marked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two questions, of which one has no ground truth; the last round of each failed."""
    place = tmp_path_factory.mktemp("half")
    rows = []
    for n in range(4):
        end = {"status": "failed", "reasoning": ""} if n == 3 else {}
        rows += [theirs(round=n, **end), theirs(round=n, id=8, common_answers=None, **end)]
    folder, _ = imported(place, write_lines(place / "evals_gpt_4o_1.jsonl", rows))
    return folder, score_study(folder)


def test_without_a_ground_truth_accuracy_and_score_are_missing_and_never_0(half_marked: Any) -> None:
    _, outcomes = half_marked
    marked, unmarked = (outcomes[outcomes["question_id"] == q] for q in ("7", "8"))
    assert marked["accuracy"].tolist() == [1, 1, 1, 0]
    assert unmarked["accuracy"].isna().all()
    assert unmarked["score"].isna().all()
    assert unmarked["answer_status"].tolist() == ["unmarked"] * 4
    assert unmarked["completion"].tolist() == [1, 1, 1, 0]
    assert unmarked["words_out"].tolist()[:3] == marked["words_out"].tolist()[:3]
    assert unmarked["jaccard_first"].tolist()[:3] == [1.0, 1.0, 1.0]
    assert outcomes["tokens_source"].dropna().unique().tolist() == ["bpe"]


def test_a_cell_without_a_ground_truth_is_not_known_and_does_not_agree_with_itself(half_marked: Any) -> None:
    _, outcomes = half_marked
    cells = summarise_cells(outcomes, seed=1).set_index("question_id")
    assert cells.loc["7", "accuracy"] == 0.75
    for name in ("accuracy", "score_mean", "instability", "modal_share", "total_agreement_rate", "answer_entropy"):
        assert pd.isna(cells.loc["8", name]), name
    assert cells.loc["8", "verdict"] == "not known"
    assert "no run was compared with a ground truth".casefold() in cells.loc["8", "verdict_reason"].casefold()
    assert cells["n_unparsed"].tolist() == [1, 0]
    assert cells["n_failed"].tolist() == [1, 1]


def test_a_report_says_that_there_is_no_ground_truth(half_marked: Any) -> None:
    folder, _ = half_marked
    page = open_page(folder.root, resamples=99)
    assert "**3 right** of the 4 that have a ground truth" in lead(page)
    assert "(q-8)" in question_table(page) or "8" in question_table(page)


def test_dsqa_show_prints_an_imported_run(half_marked: Any) -> None:
    folder, _ = half_marked
    done = CliRunner().invoke(show, [str(folder.root), "-q", "7", "-r", "0"])
    assert done.exit_code == 0, done.output
    assert "@mean[35.5]" in done.output


def test_nothing_is_asked_for_an_imported_study(half_marked: Any) -> None:
    folder, _ = half_marked
    before = folder.description_path.read_bytes()
    config = parse_study("name: s\nmodels: [m]\n")
    with pytest.raises(StudyError, match="holds runs that were imported"):
        prepare_study(config, None, folder.root)
    assert folder.description_path.read_bytes() == before


def test_a_hand_made_question_without_answers_is_told_of_and_unmarked(tmp_path: Path) -> None:
    from dsqa.bank import load_bank

    path = tmp_path / "questions.jsonl"
    question = {"id": "a", "question": "How?", "format": "@x[value]", "level": "easy", "common_answers": []}
    path.write_text(json.dumps(question) + "\n")
    bank = load_bank(path)
    assert not bank["a"].marked
    with pytest.raises(BankError, match="common_answers"):
        load_bank(path, strict=True)
    path.write_text(json.dumps(question | {"unmarked": ["x"]}) + "\n")
    assert not load_bank(path)["a"].marked


def test_comparison_leaves_out_what_has_no_ground_truth(half_marked: Any) -> None:
    _, outcomes = half_marked
    drift = compare_studies(outcomes, outcomes, seed=1)
    changes = drift.questions.set_index("question_id")["change"]
    assert changes.to_dict() == {"7": "no change seen", "8": "not marked"}
    unmarked = outcomes[outcomes["question_id"] == "8"]
    with pytest.raises(StatisticsError, match="has a ground truth"):
        compare_studies(unmarked, unmarked, seed=1)
