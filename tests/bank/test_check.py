"""`dsqa bank check` and `dsqa bank answer`, as staff meet them: each mistake found, placed, with its remedy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner

from dsqa.authoring import answer_bank, check_bank
from dsqa.bank import Question, load_bank
from dsqa.bank.convert import convert_bank
from dsqa.cli.bank import bank as command
from dsqa.errors import BankError

CARS = "speed,dist\n4,2\n7,4\n8,16\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cars.csv").write_text(CARS)
    return tmp_path


def row(**changes) -> dict:
    whole = {
        "id": "a", "question": "What is the mean of dist?", "format": "@mean[m] where m is rounded to 2 decimals",
        "file_name": "cars.csv", "level": "easy", "common_answers": [["mean", "7.33"]],
    }  # fmt: skip
    return {k: v for k, v in {**whole, **changes}.items() if v is not None}


def found(folder: Path, *rows: dict) -> list[tuple[str, int | None, str | None, str]]:
    path = folder / "b.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    checked = check_bank(path)
    assert all(f.hint for f in checked.findings if f.severity == "error"), checked.findings
    return [(f.severity, f.line, f.field, f.message) for f in checked.findings]


def test_a_good_bank_has_no_finding(folder):
    assert found(folder, row()) == []


@pytest.mark.parametrize(
    ("changes", "severity", "field", "part"),
    [
        ({"file_name": "car.csv"}, "error", "file_name", "no data file"),
        ({"level": "Medum"}, "error", "level", "is not a level"),
        ({"common_answers": [["mean", "[7.33"]]}, "error", "common_answers", "unbalanced brackets"),
        ({"format": "@mean[m where m is a number"}, "error", "format", "never closed"),
        ({"format": "@mean[m] rounded to 2 decimals]"}, "warning", "format", "1 opening and 2 closing"),
        ({"format": "@mean[m] to 2 decimals, not @median"}, "warning", "format", "'@median' has no [value]"),
        ({"common_answers": [["mean", "m"]]}, "error", "common_answers", "is no number"),
        ({"common_answers": [["mean", "seven"]], "format": "@mean[m], a number"}, "warning", None, ""),
        ({"common_answers": [["mean", "7.5"]], "format": "@mean[m], an integer"}, "error", "common_answers", "whole"),
        ({"common_answers": [["mean", "7.333"]]}, "error", "common_answers", "has 3 decimals"),
        ({"common_answers": [["mean", "7.3"]]}, "warning", "common_answers", "has 1 decimals"),
        ({"common_answers": [["mean", "7,33"]]}, "warning", "common_answers", "a list of two numbers"),
        (
            {"common_answers": [["mean", "big"]], "format": "@mean[m], yes or no"},
            "error",
            "common_answers",
            "neither yes nor no",
        ),
        (
            {"common_answers": [["mean", "high"]], "format": '@mean[m], "low" or "medium"'},
            "warning",
            "common_answers",
            "none of the words",
        ),
        ({"question": "What is the mean of the column 'Dist'?"}, "error", "question", "a column 'Dist'"),
        ({"question": "What is the mean of the column 'weight'?"}, "warning", "question", "a column 'weight'"),
        ({"question": "What is the mean of `weight`?"}, "warning", "question", "a column 'weight'"),
        ({"question": "The mean is 7.33; what is it?"}, "warning", "question", ""),
        ({"question": "The mean is 1234.5; what?", "common_answers": [["mean", "1234.50"]]}, None, None, ""),
        ({"question": "What is the mean of dist in bikes.csv?"}, "warning", "file_name", "speaks of bikes.csv"),
        ({"question": "Mean of dist in cars.csv?", "file_name": None}, "warning", "file_name", "no data file"),
        ({"tolerence": "0.1"}, "warning", "tolerence", "is no field"),
        ({"tolerance": "10"}, "error", "tolerance", "as large as the truth"),
        ({"tolerance": {"median": "0.1"}}, "error", "tolerance", "'median'"),
        ({"tolerance": "0.1", "rounding": "2"}, "warning", "rounding", "a tolerance as well"),
        ({"rounding": 3, "format": "@mean[m]"}, "warning", "rounding", "to 3 decimals"),
        ({"traps": {"median": {"median": "4"}}}, "error", "traps", "'median'"),
        ({"traps": {"ddof=0": {"mean": "7.331"}}}, "warning", "traps", "counts as right"),
        ({"unit": "proportion"}, "warning", "common_answers", "no proportion"),
        ({"reference_code": "print(1"}, "error", "reference_code", "not valid Python"),
        ({"reference_code": "code/a.py"}, "error", "reference_code", "there is no file"),
        ({"reference_plot": "a.png"}, "error", "reference_plot", "there is no file"),
    ],
)
def test_each_mistake(folder, changes, severity, field, part):
    findings = found(folder, row(id="good", question="How far is the mean dist?"), row(**changes))
    if not part:
        return
    assert any(f[0] == severity and f[1] == 2 and f[2] == field and part in f[3] for f in findings), findings
    assert not any(f[1] == 1 for f in findings)


@pytest.mark.parametrize(
    "changes",
    [
        {"question": "Make a new column called 'ratio' from speed and dist. What is the mean of 'ratio'?"},
        {"question": "What is the mean of the columns 'speed' and 'dist'?"},
        {"question": "Are the column names fine, and what is the mean?"},
        {"format": "@mean[m] is a number", "common_answers": [["mean", "7.33"]]},
        {"format": '@mean[m], "yes" or "no"', "common_answers": [["mean", "Yes"]]},
        {"format": '@mean[m], "Normal" or "Non-Normal"', "common_answers": [["mean", '"Non-Normal"']]},
        {"format": "@mean[m], a list of integers", "common_answers": [["mean", "[1, 2]"]]},
        {"format": "@mean[m], a p-value to 3 decimals", "common_answers": [["mean", "<0.001"]]},
        {"format": "@mean[m]", "common_answers": [["mean", ""]]},
    ],
)
def test_what_is_no_mistake(folder, changes):
    assert found(folder, row(**changes)) == []


def test_all_findings_are_said_and_the_same_question_twice(folder):
    findings = found(folder, row(level="x", file_name="no.csv"), row(id="b"), row(id="c"), row(id="b"), {"id": "d"})
    said = {(line, field) for _, line, field, _ in findings}
    assert {(1, "level"), (3, "question"), (4, "id"), (5, "question"), (5, "format")} <= said
    assert [line for _, line, _, _ in findings] == sorted(line for _, line, _, _ in findings)


def test_an_unreadable_data_file_is_an_error(folder):
    (folder / "data" / "empty.csv").write_text("")
    assert any(f[0] == "error" and f[2] == "file_name" for f in found(folder, row(file_name="empty.csv")))


def test_command_line_of_check(folder):
    book = openpyxl.Workbook()
    book.active.append(["Question", "Answer", "Data", "Level"])
    book.active.append(["How many rows?", 3, "cars.csv", "esay"])
    book.save(folder / "hw.xlsx")
    result = CliRunner().invoke(command, ["check", str(folder / "hw.xlsx")], standalone_mode=False)
    assert result.return_value == 2
    assert f"error: {folder / 'hw.xlsx'}:2: field 'level': cell D2 " in result.output
    assert "did you mean 'easy'?" in result.output
    as_json = CliRunner().invoke(command, ["check", "--json", str(folder / "hw.xlsx")], standalone_mode=False)
    data = json.loads(as_json.output)
    assert data["errors"] == 1
    assert data["findings"][0]["cell"] == "D2"


def test_exit_code_as_a_process(folder):
    (folder / "b.csv").write_text("question,answer,level\nMean?,3,esay\n")
    command_line = [sys.executable, "-m", "dsqa", "bank", "check", str(folder / "b.csv")]
    done = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "b.csv:2" in done.stdout
    assert done.stderr == ""


# --- converting ---


def test_data_files_are_found_from_the_new_place(folder):
    source = folder / "b.jsonl"
    source.write_text(json.dumps(row()) + "\n")
    beside = convert_bank(source, folder / "b.md")
    assert beside.copied == ()
    away = convert_bank(source, folder / "new" / "b.yaml")
    assert away.copied == (folder / "new" / "data" / "cars.csv",)
    back = load_bank(folder / "new" / "b.yaml")
    assert back.data_file(back["a"]).read_text() == CARS
    assert back.hash == load_bank(source).hash


def test_converting_never_replaces_unasked(folder):
    source = folder / "b.jsonl"
    source.write_text(json.dumps(row()) + "\n")
    (folder / "b.csv").write_text("mine")
    with pytest.raises(BankError, match="is there already"):
        convert_bank(source, folder / "b.csv")
    assert (folder / "b.csv").read_text() == "mine"
    (folder / "new" / "data").mkdir(parents=True)
    (folder / "new" / "data" / "cars.csv").write_text("other")
    with pytest.raises(BankError, match="another file"):
        convert_bank(source, folder / "new" / "b.csv")
    assert not (folder / "new" / "b.csv").exists()


def test_a_bank_of_which_nothing_is_left_or_of_no_format_is_refused(folder):
    source = folder / "b.jsonl"
    source.write_text(json.dumps(row(question=None)) + "\n")
    with pytest.raises(BankError, match="is missing"):
        convert_bank(source, folder / "b.csv")
    with pytest.raises(BankError, match="not the format of a bank"):
        convert_bank(source, folder / "b.pdf")


# --- answering ---


def answered(folder: Path, text: str, **kwargs):
    path = folder / "b.md"
    path.write_text(text)
    results = answer_bank(path, folder / "out.jsonl", **kwargs)
    out = load_bank(folder / "out.jsonl") if (folder / "out.jsonl").exists() else None
    return {r.question: r for r in results}, out


READ = "import pandas as pd\nd = pd.read_csv('cars.csv')"
ANSWERS = f"""
## filled

Mean?

- **Data:** cars.csv

```python
{READ}
d.dist.mean()
```

## asked

Mean and rows?

- **Data:** cars.csv
- **Format:** @mean[m] @rows[n] where "m" is rounded to three decimals

```python
{READ}
print(f"@mean[{{d.dist.mean()}}] @rows[{{len(d)}}]")
```

## same

Rows?

- **Data:** cars.csv
- **Answer:** 3

```python
print(3.0)
```

## differs

Rows?

- **Answer:** 4

```python
print(3)
```

## word

Which?

- **Level:** easy

```python
print("Nigeria")
```

## none

Why?

- **Answer:** because
"""


def test_answers_are_worked_out_and_typed_ones_kept(folder):
    results, out = answered(folder, ANSWERS)
    assert {name: r.outcome for name, r in results.items()} == {
        "filled": "filled in", "asked": "filled in", "same": "as it was", "differs": "differs",
        "word": "filled in", "none": "no code",
    }  # fmt: skip
    assert out["filled"].answers == {"answer": "7.33"}
    assert "2 decimals" in results["filled"].remark
    assert out["filled"].format == '@answer[value] where "value" is a number rounded to 2 decimals'
    assert out["asked"].answers == {"mean": "7.333", "rows": "3"}
    assert out["same"].answers == {"answer": "3"}
    assert out["differs"].answers == {"answer": "4"}
    assert out["word"].answers == {"answer": "Nigeria"}
    assert results["differs"].given == {"answer": "3"}


def test_overwrite_takes_the_codes_answer(folder):
    results, out = answered(folder, ANSWERS, overwrite=True)
    assert results["differs"].outcome == "overwritten"
    assert out["differs"].answers == {"answer": "3"}


def test_code_that_fails_or_gives_nothing_writes_nothing(folder):
    text = ANSWERS + "\n## bad\n\nX?\n\n- **Level:** easy\n\n```python\n1/0\n```\n\n"
    text += "## silent\n\nX?\n\n- **Level:** easy\n\n```python\nx = 1\n```\n"
    results, out = answered(folder, text)
    assert results["bad"].outcome == "failed"
    assert "ZeroDivisionError" in results["bad"].remark
    assert results["silent"].outcome == "failed"
    assert out is None


def test_answering_says_what_it_needs(folder):
    with pytest.raises(BankError, match="no question has reference code"):
        answered(folder, "## a\n\nX?\n\n- **Answer:** 1\n")
    (folder / "out.jsonl").write_text("mine")
    with pytest.raises(BankError, match="is there already"):
        answered(folder, ANSWERS)


def test_reference_code_in_a_file_beside_the_bank(folder):
    (folder / "code").mkdir()
    (folder / "code" / "rows.py").write_text("print('@answer[3]')")
    results, out = answered(folder, "## a\n\nRows?\n\n- **Code:** code/rows.py\n")
    assert results["a"].outcome == "filled in"
    assert out["a"].answers == {"answer": "3"}


def test_a_hash_does_not_change_with_fields_that_say_nothing():
    plain = Question.model_validate(row())
    assert set(plain.to_dict()) == {
        "id", "question", "concepts", "format", "file_name", "level", "common_answers", "category"
    }  # fmt: skip
