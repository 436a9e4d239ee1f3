"""Question files as the DS-QA authors keep them: objects over several lines, one after another, some broken."""

from __future__ import annotations

import json
from pathlib import Path

from dsqa.bank import load_bank
from dsqa.bank.load import examine_bank
from tests.importing.support import imported, write_lines

QUESTIONS = [
    {
        "id": n,
        "question": f"What is the mean of column {n}?",
        "concepts": ["Data Summary"],
        "format": "@mean[value]",
        "file_name": None,
        "level": "easy",
        "common_answers": [["mean", f"{n}.5"]],
    }
    for n in range(1, 5)
]


def printed(*broken: int) -> str:
    texts = [json.dumps(question, indent=2) for question in QUESTIONS]
    for number in broken:
        texts[number] = texts[number].replace('"level": "easy",', '"level": "easy"')
    return "\n".join(texts) + "\n"


def test_objects_over_several_lines_are_questions(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(printed())
    assert [(q.id, q.answers) for q in load_bank(path)] == [(str(n), {"mean": f"{n}.5"}) for n in range(1, 5)]


def test_broken_objects_are_named_by_line_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(printed(1, 3))
    examined = examine_bank(path)
    assert [item.question.id for item in examined.items] == ["1", "3"]
    lines = path.read_text().split("\n")
    assert [lines[f.line - 2] for f in examined.errors if f.line] == ['  "level": "easy"'] * 2
    assert [question.id for question in load_bank(path)] == ["1", "3"]
    assert any("in the object that begins at line 17" in str(finding.to_error()) for finding in examined.errors)


def test_an_object_cut_off_at_the_end_is_named(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(printed()[:-40])
    examined = examine_bank(path)
    assert [item.question.id for item in examined.items] == ["1", "2", "3"]
    assert len(examined.errors) == 1


def test_an_import_keeps_the_whole_questions_of_a_bank_and_says_which_are_broken(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(printed(1))
    rows = [
        {"id": n, "round": r, "status": "completed", "reasoning": "@mean[1.5]", "words": 1, "runtime": 1.0}
        for n in (1, 2)
        for r in range(2)
    ]
    folder, said = imported(tmp_path, write_lines(tmp_path / "x_gpt_4o_1.jsonl", rows), bank=path)
    assert [(q.id, q.marked) for q in folder.bank()] == [("1", True), ("2", False)]
    assert any("in the object that begins at line 17" in left["what"] for left in said["left_out"])


def test_headings_between_questions_and_questions_without_an_answer(tmp_path: Path) -> None:
    nested = QUESTIONS[1] | {"common_answers": [QUESTIONS[1]["common_answers"]]}
    bare = {name: value for name, value in QUESTIONS[2].items() if name != "common_answers"} | {"level": "Easy"}
    rows = [
        {"id": n, "round": r, "status": "completed", "reasoning": "@mean[1.5]", "words": 1, "runtime": 1.0}
        for n in (1, 2, 3)
        for r in range(2)
    ]
    for indent in (None, 2):
        path = tmp_path / f"questions{indent}.jsonl"
        texts = [json.dumps(question, indent=indent) for question in (QUESTIONS[0], nested, bare)]
        path.write_text("## Questions on the evals data\n" + "\n## more\n".join(texts) + "\n")
        place = tmp_path / str(indent)
        place.mkdir()
        folder, said = imported(place, write_lines(tmp_path / "x_gpt_4o_1.jsonl", rows), bank=path)
        assert [q.answers for q in folder.bank()] == [{"mean": "1.5"}, {"mean": "2.5"}, {}]
        assert [q.question for q in folder.bank()] == [q["question"] for q in QUESTIONS[:3]]
        assert any("no usable ground truth" in note for note in said["notes"])
