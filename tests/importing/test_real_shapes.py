"""Files in the shapes that are really found, and the faults that other people's logs brought up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsqa.errors import SourceError
from dsqa.importing.readers.data_sets import DataSets
from dsqa.importing.runs import ImportReport
from dsqa.outcomes import score_study
from dsqa.records.answered import same_model
from tests.importing.support import imported, records, row, write_lines
from tests.importing.test_ds_qa import theirs

ABC = "Which is 1 + 1?\n(A) one\n(B) two\n(C) three"


def choice(response: str, right: int, **given: Any) -> dict[str, Any]:
    return {"question": ABC, "model": "m", "response": response, "target": "(B)", "acc": right} | given


def test_a_choice_is_marked_by_its_letter_and_set_beside_the_sources_marks(tmp_path: Path) -> None:
    rows = [choice("The answer is (B) two.", 1), choice('{"Answer":"B"}', 1), choice("Hm. (C).", 0), choice("two", 1)]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    (question,) = folder.bank()
    assert question.options == {"A": "one", "B": "two", "C": "three"}
    assert question.answers == {"answer": "B"}
    assert score_study(folder)["accuracy"].tolist() == [1, 1, 0, 1]
    marking = said["marking"]
    assert (marking["read"], marking["right"], marking["both_marked"], marking["equal"]) == (4, 3, 4, 4)
    assert marking["warning"] is None


@pytest.mark.parametrize("truth", ["(B)", "B"])
def test_a_choice_whose_question_is_not_known_is_one_all_the_same(tmp_path: Path, truth: str) -> None:
    rows = [
        {"id": 1, "model": "m", "response": f"So it is ({a}).", "target": truth, "acc": int(a == "B")} for a in "BAB"
    ]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert score_study(folder)["accuracy"].tolist() == [1, 0, 1]
    assert said["marking"]["equal"] == 3


def test_free_text_is_left_unmarked_and_the_sources_marks_are_kept(tmp_path: Path) -> None:
    truth = "Rayleigh scattering of sunlight by the air's molecules is strongest for short wavelengths."
    rows = [
        row(target=truth, model_graded_qa=1),
        row(question_id="b", prompt="Name it.", target="the Nile", model_graded_qa=1),
    ]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert [question.marked for question in folder.bank()] == [False, False]
    assert next(iter(folder.bank())).reference_text == truth
    assert said["marking"]["marked"] == 0
    assert any("free text" in text for text in said["made_up"])


def test_answers_that_never_match_are_warned_of(tmp_path: Path) -> None:
    rows = [row(run=n, response="It is 50.", target="0.5") for n in range(12)]
    _, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert said["marking"]["hardly_right"]
    assert "'50'" in said["marking"]["warning"]


def test_answers_of_another_model_than_was_asked_are_told(tmp_path: Path) -> None:
    body = {"model": "gpt-4-turbo", "messages": [{"role": "user", "content": "1 + 1?"}]}
    answer = {"object": "chat.completion", "model": "gpt-3.5-turbo-0125", "choices": [{"message": {"content": "2"}}]}
    asked = write_lines(tmp_path / "in.jsonl", [{"custom_id": "a", "method": "POST", "url": "/v1", "body": body}])
    got = write_lines(
        tmp_path / "out.jsonl", [{"custom_id": "a", "response": {"status_code": 200, "body": answer}, "error": None}]
    )
    _, said = imported(tmp_path, [asked, got])
    assert any("gpt-4-turbo" in note and "gpt-3.5-turbo-0125" in note for note in said["notes"])


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True), ("openai/gpt-4o", "gpt-4o", True),
        ("gpt-35-turbo", "gpt-3.5-turbo-0125", True),
        ("gpt-4", "gpt-4-0613", True), ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", True),
        ("qwen", "/models/Qwen.gguf", True), ("SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct-Q8_0.gguf", True),
        ("gpt-4-turbo", "gpt-3.5-turbo-0125", False), ("gpt-4o", "gpt-4o-mini", False), ("gpt-4", "gpt-4-32k", False),
        ("gpt-4-0613", "gpt-4-0314", False), ("llama-3-8b", "llama-3-70b", False),
    ],
)  # fmt: skip
def test_names_of_one_model(asked: str, answered: str, same: bool) -> None:
    assert same_model(asked, answered) is same


def result(custom_id: str, tokens: int) -> dict[str, Any]:
    body = {
        "object": "chat.completion", "model": "m", "choices": [{"message": {"content": custom_id}}],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1},
    }  # fmt: skip
    return {"custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}


def test_without_its_requests_each_result_of_a_batch_is_a_question(tmp_path: Path) -> None:
    rows = [result(f"request-{n}", 20) for n in range(1, 6)] + [result(f"mean-run-{n}", 9) for n in range(3)]
    rows += [result("sd-run-0", 8), result("sd-run-1", 14)]
    folder, _ = imported(tmp_path, write_lines(tmp_path / "out.jsonl", rows))
    found = [question.id for question in folder.bank()]
    assert found == [*(f"request-{n}" for n in range(1, 6)), "mean", "sd-run-0", "sd-run-1"]
    assert [record.run for record in records(folder) if record.question_id == "mean"] == [0, 1, 2]


def test_two_data_sets_that_number_alike_are_kept_apart(tmp_path: Path) -> None:
    one = [theirs(id=n, common_answers=[["mean", n]], file_name="evals.csv") for n in range(3)]
    two = [theirs(id=n, common_answers=[["sd", n]], file_name="duke.csv") for n in range(2)]
    files = [write_lines(tmp_path / f"{name}_gpt_4o_1.jsonl", rows) for name, rows in (("evals", one), ("duke", two))]
    for on_duplicate in ("error", "all"):
        place = tmp_path / on_duplicate
        folder, said = imported(place, files, on_duplicate=on_duplicate)
        assert sorted(q.id for q in folder.bank()) == ["duke/0", "duke/1", "evals/0", "evals/1", "evals/2"]
        assert len(records(folder)) == 5
        assert said["duplicates"]["differing"] == 0


def test_data_sets_of_which_nothing_is_known_are_kept_apart_too(tmp_path: Path) -> None:
    bare = {"common_answers": None, "file_name": None}
    files = [
        write_lines(tmp_path / f"{name}_gpt_4o_1.jsonl", [theirs(id=0, reasoning=name, **bare)])
        for name in ("evals", "duke")
    ]
    folder, _ = imported(tmp_path, files, on_duplicate="all")
    assert sorted(q.id for q in folder.bank()) == ["duke/0", "evals/0"]


def test_one_data_set_in_several_files_stays_one(tmp_path: Path) -> None:
    files = [
        write_lines(tmp_path / f"evals_gpt_{model}_1.jsonl", [theirs(id=n) for n in range(2)])
        for model in ("4o", "4_1")
    ]
    folder, _ = imported(tmp_path, files)
    assert [q.id for q in folder.bank()] == ["0", "1"]


def test_tables_that_number_different_questions_alike_are_kept_apart(tmp_path: Path) -> None:
    rows = {name: [row(question_id=n, prompt=f"{name} {n}?", response=name) for n in range(2)] for name in ("a", "b")}
    files = [write_lines(tmp_path / f"{name}.jsonl", each) for name, each in rows.items()]
    folder, _ = imported(tmp_path, files)
    assert sorted(q.id for q in folder.bank()) == ["a/0", "a/1", "b/0", "b/1"]


def test_files_are_grouped_by_what_is_known_of_their_questions() -> None:
    sets, report = DataSets(), ImportReport()
    for label, text in (("a1", "x"), ("b1", "y"), ("a2", "x"), ("c", None)):
        sets.see(label, "0", {"text": text})
    sets.settle(report)
    assert [sets.prefix(label) for label in ("a1", "a2", "b1")] == ["a1/", "a1/", "b1/"]
    assert report.notes


def test_a_models_own_outcome_is_no_truth(tmp_path: Path) -> None:
    rows = [
        theirs(common_answers=None, GT=None, outcome="35.5"),
        theirs(id=8, common_answers=None, GT="4", outcome="5"),
    ]
    folder, _ = imported(tmp_path, write_lines(tmp_path / "x_gpt_4o_1.jsonl", rows))
    assert {q.id: q.answers for q in folder.bank()} == {"7": {}, "8": {"answer": "4"}}


def test_truths_nested_one_list_deeper_are_the_same(tmp_path: Path) -> None:
    nested = [[["price", "Free"]], [[["price", "Free"]]], "[('price', 'Free')]", {"price": "Free"}]
    rows = [theirs(round=n, common_answers=truth) for n, truth in enumerate(nested)]
    folder, said = imported(tmp_path, write_lines(tmp_path / "x_gpt_4o_1.jsonl", rows))
    assert [q.answers for q in folder.bank()] == [{"price": "Free"}]
    assert said["bad_rows"]["passed_over"] == 0


def test_files_beside_the_runs_and_bad_rows_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    inside = tmp_path / "theirs"
    inside.mkdir()
    write_lines(inside / "x_gpt_4o_1.jsonl", [theirs(), {"id": 3}, theirs(round=1)])
    with (inside / "x_gpt_4o_1.jsonl").open("a") as handle:
        handle.write('{"id": 7, "round": 2, "sta')
    write_lines(inside / "input_metrics.jsonl", [{"id": 1, "question": "How?", "model": "gpt-4o", "input_words": 3}])
    (inside / "README.txt").write_text("Runs of one model.\n")
    (inside / "empty.csv").write_text("question,response,model\n")
    folder, said = imported(tmp_path, inside)
    assert len(records(folder)) == 2
    told = json.dumps([said["bad_rows"], said["left_out"]])
    assert all(name in told for name in ("input_metrics.jsonl", "README.txt", "empty.csv", "x_gpt_4o_1.jsonl:2"))
    with pytest.raises(SourceError):
        imported(tmp_path / "strict", inside, reading={"skip_bad": False})


def test_times_of_any_notation_are_read_once(tmp_path: Path) -> None:
    written = [
        "2025-03-01_10-58-34",
        "01.03.2025 10:58:34",
        1740826714,
        "3/1/2025 10:58:34 AM",
        "3/13/2025",
        "at noon",
    ]
    rows = [row(run=n, timestamp=each) for n, each in enumerate(written)]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert [r.started_at for r in records(folder)] == [
        *["2025-03-01T10:58:34+00:00"] * 4, "2025-03-13T00:00:00+00:00", None,
    ]  # fmt: skip
    assert any("noon" in note for note in said["notes"])


def test_alpaca_eval_outputs(tmp_path: Path) -> None:
    path = tmp_path / "outputs.json"
    rows = [{"dataset": "koala", "instruction": f"Do {n}.", "output": "Done.", "generator": "gpt4"} for n in range(3)]
    path.write_text(json.dumps(rows, indent=1))
    folder, _ = imported(tmp_path, path)
    assert {c.model for c in folder.describe().conditions} == {"gpt4"}
    assert {(q.category, q.file_name) for q in folder.bank()} == {("koala", None)}


def test_mt_bench_answers(tmp_path: Path) -> None:
    turns = {"question_id": 81, "category": "writing", "turns": ["Write.", "Again."]}
    answer = {
        "question_id": 81, "answer_id": "x", "model_id": "vicuna", "tstamp": 1740826714.0,
        "choices": [{"index": n, "turns": [f"One {n}.", f"Two {n}."]} for n in range(2)],
    }  # fmt: skip
    files = [
        write_lines(tmp_path / "question.jsonl", [turns]),
        write_lines(tmp_path / "vicuna.jsonl", [answer, {"a": 1}]),
    ]
    folder, said = imported(tmp_path, files)
    assert said["format"] == "mt-bench"
    assert [(q.id, q.question, q.category) for q in folder.bank()] == [
        ("81/1", "Write.", "writing"), ("81/2", "Again.", "writing"),
    ]  # fmt: skip
    assert [(r.question_id, r.run, r.text) for r in records(folder)] == [
        ("81/1", 0, "One 0."), ("81/2", 0, "Two 0."), ("81/1", 1, "One 1."), ("81/2", 1, "Two 1."),
    ]  # fmt: skip


@pytest.mark.parametrize("version", [1, 2])
def test_promptfoo_of_earlier_versions(tmp_path: Path, version: int) -> None:
    def one(test: int, output: str) -> dict[str, Any]:
        prompt = {"raw": f"What is {test} + 1?", "display": "[openai:gpt-4] What is {{n}} + 1?"}
        found = {
            "prompt": prompt, "vars": {"n": str(test), "expected": str(test + 1)}, "success": output == str(test + 1),
            "response": {"output": output, "tokenUsage": {"total": 9, "prompt": 8, "completion": 1}},
        }  # fmt: skip
        return found if version == 1 else found | {"provider": {"id": "openai:gpt-4"}, "gradingResult": None}

    results = [one(1, "2"), one(1, "2"), one(2, "4"), one(2, "3")]
    body = {
        "version": version,
        "results": results,
        "stats": {"successes": 3, "failures": 1},
        "table": {"head": {}, "body": []},
    }
    path = tmp_path / "results.json"
    path.write_text(json.dumps(body if version == 1 else {"results": body, "config": {}}, indent=2))
    folder, said = imported(tmp_path, path)
    assert said["format"] == "promptfoo"
    assert {(c.endpoint, c.model) for c in folder.describe().conditions} == {("openai", "gpt-4")}
    assert [(r.question_id, r.run) for r in records(folder)] == [("q1", 0), ("q1", 1), ("q2", 0), ("q2", 1)]
    assert said["marking"]["equal"] == 4


def test_a_named_column_makes_a_table_and_its_text_is_the_questions(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Number,Question,X,Who\n1,How many cars are there?,12,m\n2,How many bikes are there?,9,m\n")
    with pytest.raises(SourceError, match="'Number', 'Question', 'X', 'Who'"):
        imported(tmp_path, path)
    columns = {"question": "Number", "text": "X", "model": "Who"}
    folder, said = imported(tmp_path, path, reading={"columns": columns})
    assert [(q.id, q.question) for q in folder.bank()] == [
        ("1", "How many cars are there?"), ("2", "How many bikes are there?"),
    ]  # fmt: skip
    assert said["metrics"] == {}


@pytest.mark.parametrize(
    "bad",
    [
        {"run": 10**30}, {"run": "1e400"}, {"run": "first"}, {"run": [1]}, {"temperature": "hot"},
        {"temperature": 10**400},
        {"completion_tokens": "many"}, {"completion_tokens": 10**40}, {"latency": 10**400}, {"usage": {"a": [[[]]]}},
        {"question_id": "\ud800"}, {"prompt": "\ud800 half"}, {"response": "\udfff"}, {"model": "\ud800"},
        {"response": {"a": "\ud800"}}, {"score": 10**400}, {"score": "9" * 5000}, {"timestamp": 10**400},
        {"target": "9" * 5000}, {"question_id": {"a": 1}}, {"level": ["x"]}, {"run": True}, {"run": 1.5}, {"run": -1},
    ],
    ids=lambda bad: str(bad)[:40],
)  # fmt: skip
def test_damaged_values_cost_their_row_at_most(tmp_path: Path, bad: dict[str, Any]) -> None:
    rows = [row(question_id="x", run=0), row(question_id="y", run=0) | bad, row(question_id="z", run=0)]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert len(records(folder)) == 3 - said["bad_rows"]["passed_over"]
    assert {"x", "z"} <= {record.question_id for record in records(folder)}
    assert len(score_study(folder)) == len(records(folder))


def test_numbers_of_thousands_of_digits_cost_their_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row(run=0), row(run=1)])
    path.write_text(
        path.read_text() + '{"question_id": "a", "model": "m", "response": "x", "run": ' + "9" * 5000 + "}\n"
    )
    folder, said = imported(tmp_path, path)
    assert len(records(folder)) == 2
    assert "thousands of digits" in said["bad_rows"]["first"][0]
