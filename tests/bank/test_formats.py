"""Questions as people write them, in every format, and what is made up for them."""

from __future__ import annotations

import csv
import datetime
import json
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.bank import Bank, load_bank
from dsqa.bank.load import examine_bank
from dsqa.errors import BankError


def save(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def load(folder: Path, name: str, content: str | bytes) -> Bank:
    return load_bank(save(folder, name, content), check_data=False, strict=True)


def error(folder: Path, name: str, content: str | bytes) -> BankError:
    with pytest.raises(BankError) as caught:
        load(folder, name, content)
    assert "\n" not in str(caught.value)
    return caught.value


# --- CSV ---


def test_a_plain_question_answer_csv(tmp_path):
    bank = load(tmp_path, "b.csv", 'question,answer\nHow many rows?,50\n"What is the mean, roughly?",42.98\n')
    assert [q.id for q in bank] == ["q1", "q2"]
    assert [q.answers for q in bank] == [{"answer": "50"}, {"answer": "42.98"}]
    assert bank["q1"].format == '@answer[value] where "value" is a whole number'
    assert bank["q2"].format == '@answer[value] where "value" is a number rounded to 2 decimals'
    assert {q.level for q in bank} == {"medium"}
    notes = [f for f in examine_bank(tmp_path / "b.csv").findings if f.severity == "note"]
    assert {f.field for f in notes} == {"id", "level", "format"}
    assert all("2 questions" in f.message for f in notes)


@pytest.mark.parametrize(
    "header",
    [
        "Nr,Question,Model answer,Data file,Difficulty,Topics",
        "#;Question text;Correct Answer;dataset;LEVEL;concept",
        "id\tprompt\ttruth\tFile Name\tlevel\tTags",
        "ID|Task|ground_truth|csv|difficulty level|skills",
    ],
)
def test_headers_are_matched_generously(tmp_path, header):
    mark = next(m for m in ",;\t|" if m in header)
    row = mark.join(["7", "How many?", "50", "cars.csv", "Easy", "Counting"])
    (question,) = load(tmp_path, "b.csv", f"{header}\n{row}\n")
    assert (question.id, question.question, question.answers) == ("7", "How many?", {"answer": "50"})
    assert (question.file_name, question.level, question.concepts) == ("cars.csv", "easy", ("Counting",))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_encodings_of_spreadsheets(tmp_path, encoding):
    (question,) = load(tmp_path, "b.csv", "question,answer\nWie groß?,Zürich\n".encode(encoding))
    assert (question.question, question.answers["answer"]) == ("Wie groß?", "Zürich")


def test_windows_1252_is_warned_of(tmp_path):
    path = save(tmp_path, "b.csv", "question,answer\nWie groß?,5\n".encode("cp1252"))
    (warning,) = [f for f in examine_bank(path).findings if f.severity == "warning"]
    assert "Windows-1252" in warning.message
    assert warning.line == 2


def test_decimal_commas_between_semicolons(tmp_path):
    bank = load(tmp_path, "b.csv", "question;answer;tolerance\nMean?;34,65;0,01\nBig?;1.234,5;\nWord?;a, b;\n")
    assert [q.answers["answer"] for q in bank] == ["34.65", "1234.5", "a, b"]
    assert bank["q1"].tolerance == "0.01"


def test_a_decimal_comma_beside_a_unit_between_semicolons(tmp_path):
    bank = load(tmp_path, "b.csv", "question;answer\nMost?;80,00 €\nLong?;€ 1.234,50\nHeavy?;3,5 kg\nWords?;a,b\n")
    assert [q.answers["answer"] for q in bank] == ["80.00 €", "€ 1234.50", "3.5 kg", "a,b"]


@pytest.mark.parametrize(
    ("cell", "warned"), [("61,8", True), ("61,8125", True), ("1,234", False), ("61, 8", False), ("1,2,3", False)]
)
def test_what_may_be_a_decimal_comma_is_warned_of(tmp_path, cell, warned):
    found = examine_bank(save(tmp_path, "b.csv", f'question,answer\nMean?,"{cell}"\n'.encode())).findings
    assert any(f.severity == "warning" and "list of two numbers" in f.message for f in found) is warned


def test_a_decimal_point_anywhere_means_that_commas_are_none(tmp_path):
    bank = load(tmp_path, "b.csv", "question;answer\nMean?;34.65\nTwo?;1,2\n")
    assert bank["q2"].answers["answer"] == "1,2"


def test_quoted_cells_of_several_lines_count_lines(tmp_path):
    caught = error(tmp_path, "b.csv", 'question,answer,level\n"one\ntwo",5,easy\nthree,6,esay\n')
    assert (caught.line, caught.field) == (4, "level")


def test_a_row_with_more_cells_than_the_header(tmp_path):
    caught = error(tmp_path, "b.csv", "question,answer\nWhat is it, then?,5\n")
    assert caught.line == 2
    assert "3 cells" in caught.message
    assert "quotes" in caught.hint


def test_excels_own_separator_line_and_blank_rows(tmp_path):
    path = save(tmp_path, "b.csv", "sep=;\nquestion;answer\n;\n\nMean?;5\n")
    examined = examine_bank(path)
    assert [(i.question.question, i.source.row.line) for i in examined.items] == [("Mean?", 5)]


def test_no_question_column_lists_what_there_is(tmp_path):
    caught = error(tmp_path, "b.csv", "foo,bar\n1,2\n")
    assert "no column 'question' (it has: foo, bar)" in caught.message


def test_a_missing_answer_names_the_row(tmp_path):
    path = save(tmp_path, "b.csv", "question,answer\nMean?,\nRows?,open\nMedian?,3\n")
    (empty,) = (f for f in examine_bank(path).findings if f.severity == "warning")
    assert (empty.line, empty.field) == (2, "common_answers")
    assert [q.marked for q in load_bank(path)] == [False, False, True]


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ("@a[1] @b[2]", {"a": "1", "b": "2"}),
        ("@b[2], @a[[1, 2]]", {"a": "[1, 2]", "b": "2"}),
        ("a = 1; b = 2", {"a": "1", "b": "2"}),
        ("a: 1\nb: x=2", {"a": "1", "b": "x=2"}),
        ("1; 2", {"a": "1", "b": "2"}),
        ("1, 2", {"a": "1", "b": "2"}),
        ('[["a", "1"], ["b", "2"]]', {"a": "1", "b": "2"}),
    ],
)
def test_several_answers_in_one_cell(tmp_path, cell, answers):
    text = 'question,answer,format\nq,"{}",@a[x] @b[y]\n'.format(cell.replace('"', '""'))
    (question,) = load(tmp_path, "b.csv", text)
    assert question.answers == answers


def test_answers_by_name_without_a_format(tmp_path):
    text = "question,answer,tolerance\nTwo?,mean = 3.2; sd = 1.1,mean: 0.01; sd: 0.1\nOne?,a = 1,\n"
    bank = load(tmp_path, "b.csv", text)
    assert bank["q1"].answers == {"mean": "3.2", "sd": "1.1"}
    assert bank["q1"].tolerance == {"mean": "0.01", "sd": "0.1"}
    assert bank["q2"].answers == {"answer": "a = 1"}


def test_a_made_up_format_says_the_unit(tmp_path):
    text = "question,answer,unit\nA?,20,percentage\nB?,0.20,proportion\nC?,a = 20; b = 3,a: percent\nD?,20,\n"
    bank = load(tmp_path, "b.csv", text)
    assert bank["q1"].format.endswith("a whole number, in per cent")
    assert bank["q2"].format.endswith("2 decimals, as a proportion between 0 and 1")
    assert bank["q3"].format.endswith('"a_value" is a whole number, in per cent; "b_value" is a whole number')
    assert bank["q4"].format.endswith("a whole number")


def test_several_answers_that_cannot_be_told_apart(tmp_path):
    caught = error(tmp_path, "b.csv", 'question,answer,format\nq,"1, 2, 3",@a[x] @b[y]\n')
    assert caught.field == "common_answers"
    assert "write @a[…], @b[…]" in caught.message


def test_a_described_format_gets_the_placeholder(tmp_path):
    (question,) = load(tmp_path, "b.csv", "question,answer,format\nq,5,a whole number of cars\n")
    assert question.format == '@answer[value] where "value" is a whole number of cars'


def test_settings_in_cells(tmp_path):
    text = (
        "question,answer,tolerance,unit,ordered,n,traps,criteria,author\n"
        'q,5.00,1 %,%,no,50,ddof=0: 4.95; log: 1.6,"Is it labelled?\nIs it clear?",me\n'
    )
    (question,) = load(tmp_path, "b.csv", text)
    assert (question.tolerance, question.unit, question.ordered, question.n) == ("1%", "percent", False, 50)
    assert question.traps == {"ddof=0": {"answer": "4.95"}, "log": {"answer": "1.6"}}
    assert question.criteria == ("Is it labelled?", "Is it clear?")
    assert question.model_extra == {"author": "me"}


@pytest.mark.parametrize(
    ("column", "value"),
    [("tolerance", "small"), ("unit", "kg"), ("ordered", "perhaps"), ("n", "many"), ("rounding", "well")],
)
def test_a_setting_that_cannot_be_read(tmp_path, column, value):
    caught = error(tmp_path, "b.csv", f"question,answer,{column}\nq,5,{value}\n")
    assert (caught.line, caught.field) == (2, column)


def test_a_data_file_named_from_the_banks_folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cars.csv").write_text("x\n1\n")
    path = save(tmp_path, "b.csv", "question,answer,data\nq,5,data/cars.csv\n")
    assert load_bank(path)["q1"].file_name == "cars.csv"


# --- Excel ---


def workbook(folder: Path, *rows, formats: dict[str, str] | None = None, sheets=()) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for cell, number_format in (formats or {}).items():
        sheet[cell].number_format = number_format
    for title, more in sheets:
        other = book.create_sheet(title)
        for row in more:
            other.append(row)
    path = folder / "b.xlsx"
    book.save(path)
    return path


HEADER = ["question", "answer"]


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (5, "General", "5"),
        (5.0, "General", "5"),
        (34.65, "General", "34.65"),
        (0.1 + 0.2, "General", "0.3"),
        (34.5, "0.00", "34.50"),
        (34, "0.00", "34.00"),
        (34.6512, "0.00", "34.65"),
        (1234.5, "#,##0.00", "1234.50"),
        (1234.5, '"$"#,##0.0', "1234.5"),
        (0.2, "0%", "20%"),
        (0.2045, "0.0%", "20.4%"),
        (0.00012, "0.00E+00", "1.20e-04"),
        (True, "General", "True"),
        (datetime.date(2010, 1, 5), "yyyy-mm-dd", "2010-01-05"),
        (datetime.datetime(2010, 1, 5, 7, 30), "yyyy-mm-dd hh:mm", "2010-01-05 07:30:00"),
        (datetime.time(7, 30), "hh:mm", "07:30"),
        ("007", "@", "007"),
    ],
)
def test_cells_as_excel_shows_them(tmp_path, value, number_format, text):
    path = workbook(tmp_path, HEADER, ["q", value], formats={"B2": number_format})
    assert load_bank(path)["q1"].answers["answer"] == text


def test_a_title_above_the_header_empty_rows_and_several_sheets(tmp_path):
    path = workbook(
        tmp_path, ["Homework 1"], [], HEADER, ["one", 1], [], ["two", 2],
        sheets=[("Notes", [["remember"]]), ("Week 2", [["Question", "Solution", "Level"], ["three", 3, "esay"]])],
    )  # fmt: skip
    examined = examine_bank(path)
    assert [i.question.question for i in examined.items] == ["one", "two", "three"]
    (level,) = examined.errors
    assert (level.line, level.cell, level.field) == (2, "Week 2!C2", "level")
    assert any("'Notes'" in f.message for f in examined.findings if f.severity == "note")


def test_formulas_never_worked_out_and_excels_errors(tmp_path):
    path = workbook(tmp_path, HEADER, ["q", "=1+1"], ["r", "#DIV/0!"])
    found = [f for f in examine_bank(path).errors if f.cell]
    assert [f.cell for f in found] == ["Sheet!B2", "Sheet!B3"] or [f.cell for f in found] == ["B2", "B3"]
    assert "never worked out" in found[0].message
    assert "#DIV/0!" in found[1].message


def test_a_blank_cell_is_said_with_its_row_and_sheet(tmp_path):
    path = workbook(tmp_path, HEADER, ["one", 1], sheets=[("Week 2", [HEADER, ["two", None]])])
    examined = examine_bank(path)
    assert not examined.errors
    (missing,) = (f for f in examined.findings if f.severity == "warning")
    assert (missing.field, missing.line, missing.cell) == ("common_answers", 2, "Week 2!B2")


def test_a_cell_that_shows_less_than_it_holds_is_said(tmp_path):
    path = workbook(tmp_path, HEADER, ["q", 34.6512], formats={"B2": "0.00"})
    assert any("shows 34.65 and holds 34.6512" in f.message for f in examine_bank(path).findings)


def test_what_is_no_workbook(tmp_path):
    assert "not a readable Excel file" in error(tmp_path, "b.xlsx", b"PK nonsense").message
    assert "save it as .xlsx" in error(tmp_path, "b.xls", b"x").hint


# --- Markdown ---

MARKDOWN = """---
title: Homework
---

# Homework 1

Some words to the reader.

## mean_dist

What is the mean of `dist`?

```
a fence in the question
# no heading
```

- **Answer:** 42.98
- **Data:** cars.csv
- **Level:** easy
- **Concepts:** Data Summary

```{python}
import pandas as pd
print(pd.read_csv("cars.csv").dist.mean())
```

## How many rows? {#rows}

Count them.

Answer: 50
Data: cars.csv
Format: @rows[n] where n is an integer

## both

Two things.

Answer
: @a[1], @b[2]

Format
: @a[x] @b[y]

### Explanation

First this.

Then that.
"""


def test_markdown_as_people_write_it(tmp_path):
    bank = load(tmp_path, "b.qmd", MARKDOWN)
    assert [q.id for q in bank] == ["mean_dist", "rows", "both"]
    first, second, third = bank
    assert first.question == "What is the mean of `dist`?\n\n```\na fence in the question\n# no heading\n```"
    assert first.answers == {"answer": "42.98"}
    assert (first.file_name, first.level, first.category) == ("cars.csv", "easy", "Data Summary")
    assert first.reference_code.startswith("import pandas as pd\nprint(")
    assert (second.question, second.answers) == ("Count them.", {"rows": "50"})
    assert third.answers == {"a": "1", "b": "2"}
    assert third.reference_text == "First this.\n\nThen that."


def test_markdown_lines_of_errors(tmp_path):
    caught = error(tmp_path, "b.md", MARKDOWN.replace("**Level:** easy", "**Level:** esay"))
    assert (caught.line, caught.field) == (MARKDOWN.split("\n").index("- **Level:** easy") + 1, "level")


def test_a_question_without_an_answer_is_an_open_one_and_not_passed_over(tmp_path):
    path = save(tmp_path, "b.md", "## a\n\nOne?\n\n- **Answer:** 1\n\n## b\n\nTwo?\n")
    (empty,) = (f for f in examine_bank(path).findings if f.severity == "warning")
    assert (empty.line, empty.field, empty.question) == (7, "common_answers", "b")
    assert [q.marked for q in load_bank(path)] == [True, False]


def test_emphasis_in_the_text_is_no_label(tmp_path):
    text = "## a\n\n**Note:** use all rows.\n\n- **Alpha:** first\n- **Beta:** second\n\n- **Answer:** 1\n"
    (question,) = load(tmp_path, "b.md", text)
    assert "**Beta:** second" in question.question


def test_labels_right_under_the_text(tmp_path):
    text = "## a\nHow many?\n- Answer: 3\n- Level: easy\n\n## b\nAnd now?\n**Answer:** 4\n\n"
    text += "## c\nList:\n- one\n- two\n\nAnswer: 5\n"
    bank = load(tmp_path, "b.md", text)
    assert [(q.question, q.answers["answer"]) for q in bank] == [
        ("How many?", "3"), ("And now?", "4"), ("List:\n- one\n- two", "5"),
    ]  # fmt: skip
    assert bank["a"].level == "easy"


def test_markdown_without_questions(tmp_path):
    assert "- **Answer:**" in error(tmp_path, "b.md", "# Title\n\nwords\n").hint


# --- YAML and JSON ---


def test_yaml_keeps_what_is_written(tmp_path):
    text = "- question: Mean?\n  answer: 34.50\n  ordered: no\n- question: Normal?\n  answer: no\n"
    text += "- question: When?\n  answer: 2010-01-05\n"
    bank = load(tmp_path, "b.yaml", text)
    assert [q.answers["answer"] for q in bank] == ["34.50", "no", "2010-01-05"]
    assert bank["q1"].ordered is False


def test_yaml_lines_of_errors(tmp_path):
    caught = error(
        tmp_path, "b.yaml", "questions:\n- question: a\n  answer: 1\n- question: b\n  level: esay\n  answer: 2\n"
    )
    assert (caught.line, caught.field) == (5, "level")
    assert error(tmp_path, "b.yaml", "- question: a: b\n  answer: 1\n").line == 1
    assert "twice" in error(tmp_path, "b.yaml", "- question: a\n  answer: 1\n  answer: 2\n").message


def test_yaml_answers_by_name_and_as_a_list(tmp_path):
    text = "- question: a\n  format: '@a[x] @b[y]'\n  answer: {a: 1, b: 2.0}\n- question: b\n  answer: [1, 2]\n"
    bank = load(tmp_path, "b.yaml", text)
    assert bank["q1"].answers == {"a": "1", "b": "2.0"}
    assert bank["q2"].answers == {"answer": "[1, 2]"}


def test_json_keeps_decimals_and_counts_lines(tmp_path):
    text = '[\n {"question": "a", "answer": 34.50},\n {"question": "b",\n  "answer": 2, "level": "esay"}\n]\n'
    caught = error(tmp_path, "b.json", text)
    assert (caught.line, caught.field) == (3, "level")
    assert load(tmp_path, "c.json", text.replace("esay", "easy"))["q1"].answers == {"answer": "34.50"}


def test_jsonl_by_hand_is_filled_in_and_a_programs_is_not(tmp_path):
    bank = load(tmp_path, "b.jsonl", '{"question": "a", "answer": 1.50}\n')
    assert bank["q1"].answers == {"answer": "1.50"}
    assert error(tmp_path, "c.jsonl", '{"question": "a", "common_answers": [["x", "1"]]}\n').field == "id"


# --- a public bank with its labels apart ---

QUESTION = {
    "id": 3, "question": "How heavy are they?", "concepts": ["Summary"], "constraints": "Use all rows.",
    "format": "@mean[m] @p_value[p]", "file_name": "a.csv", "level": "easy",
}  # fmt: skip


def public(folder: Path, labels: list[dict], questions=(QUESTION,)) -> Path:
    (folder / "pub-tables").mkdir(exist_ok=True)
    (folder / "pub-tables" / "a.csv").write_text("x\n1\n")
    save(folder, "pub-labels.jsonl", "".join(json.dumps(row) + "\n" for row in labels))
    return save(folder, "pub-questions.jsonl", "".join(json.dumps(row) + "\n" for row in questions))


def test_questions_and_labels_apart(tmp_path):
    path = public(tmp_path, [{"id": 3, "common_answers": [["mean", "3700.66"]]}])
    bank = load_bank(path)
    (question,) = bank
    assert question.answers == {"mean": "3700.66"}
    assert question.unmarked == ("p_value",)
    assert question.asked == "How heavy are they?\n\nUse all rows."
    assert bank.data_file(question) == tmp_path / "pub-tables" / "a.csv"
    (warning,) = examine_bank(path).findings
    assert (warning.severity, warning.question) == ("warning", "3")
    assert "p_value" in warning.message


def test_labels_elsewhere_are_named(tmp_path):
    path = public(tmp_path, [{"id": 3, "common_answers": [["mean", "1"]]}])
    labels = (tmp_path / "pub-labels.jsonl").rename(tmp_path / "truths.jsonl")
    assert error_of(path).field == "common_answers"
    assert len(load_bank(path, labels=labels)) == 1


def test_a_question_without_a_label_and_a_label_without_a_question(tmp_path):
    path = public(tmp_path, [{"id": 4, "common_answers": [["mean", "1"]]}])
    examined = examine_bank(path)
    assert [f.severity for f in examined.findings] == ["error", "warning"]
    assert examined.findings[1].path == tmp_path / "pub-labels.jsonl"


def error_of(path: Path) -> BankError:
    with pytest.raises(BankError) as caught:
        load_bank(path, strict=True)
    return caught.value


@pytest.mark.parametrize("suffix", [".csv", ".md", ".yaml", ".json", ".xlsx", ".tsv"])
@given(raw=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace"))))
@settings(max_examples=60, deadline=None)
def test_any_bytes_give_a_bank_or_one_line(suffix, raw, tmp_path_factory):
    path = tmp_path_factory.mktemp("bytes") / f"b{suffix}"
    path.write_bytes(raw)
    message = ""
    try:
        load_bank(path, check_data=False)
    except BankError as caught:
        message = str(caught)
    assert "\n" not in message


def test_reading_long_cells_leaves_other_readers_of_csv_their_limit(tmp_path):
    path = tmp_path / "bank.csv"
    path.write_text('question,answer\n"' + "Long? " * 40_000 + '",5\n')
    before = csv.field_size_limit()
    assert len(load_bank(path)) == 1
    assert csv.field_size_limit() == before
