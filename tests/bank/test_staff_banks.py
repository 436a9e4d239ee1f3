"""What staff write: units, decimals, options, open questions, columns of their own, one bad row."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest

from dsqa.authoring import check_bank
from dsqa.bank import Question, load_bank
from dsqa.bank.convert import convert_bank
from dsqa.bank.load import examine_bank
from dsqa.bank.written import decimals_said, final_answer, is_open, option_columns, with_decimals
from dsqa.errors import BankError


def save(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def said(path: Path, severity: str | None = None) -> list[str]:
    return [str(f) for f in check_bank(path).findings if severity in {None, f.severity}]


@pytest.fixture
def homework(tmp_path: Path) -> Path:
    save(tmp_path, "data/wages.csv", "id,wage\n1,10\n2,12\n")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["STAT101 homework"],
        [],
        ["Nr", "Exercise", "Model answer", "Data set (file)", "Difficulty?", "Points"],
        [1, "How many rows?", 2, "wages.csv", "easy", 1],
        [2, "Correlation (2 decimals)?", 0.9, "wages.csv", "Medium", 1],
        [3, "Mean of 1, 2 and 4 (two decimal places)?", 7 / 3, None, "hard", 1],
        [4, "Best plot?\na) pie\nb) boxplots\nc) lines", "b", "wages.csv", "easy", 1],
        [5, "Draw a histogram.", None, "wages.csv", "easy", 1],
        [6, "Is the sample representative?", "n/a", None, "hard", 1],
    ):
        sheet.append(row)
    book.save(tmp_path / "hw.xlsx")
    return tmp_path / "hw.xlsx"


def test_a_workbook_as_staff_write_it(homework):
    bank = load_bank(homework)
    assert [q.id for q in bank] == ["1", "2", "3", "4", "5", "6"]
    assert [q.file_name for q in bank][:3] == ["wages.csv", "wages.csv", None]
    assert [q.level for q in bank] == ["easy", "medium", "hard", "easy", "easy", "hard"]
    assert bank["2"].answers == {"answer": "0.90"}
    assert bank["3"].answers == {"answer": "2.33"}
    assert bank["4"].options == {"a": "pie", "b": "boxplots", "c": "lines"}
    assert bank["4"].choice("answer") == ("b",)
    assert [q.marked for q in bank] == [True] * 4 + [False] * 2
    findings = check_bank(homework).findings
    assert not [f for f in findings if f.severity == "error"]
    (empty,) = (f for f in findings if f.severity == "warning")
    assert (empty.cell, empty.question) == ("C8", "5")
    assert any("'Points'" in f.message for f in findings)


def test_a_workbook_goes_to_other_formats_and_back(homework, tmp_path):
    bank = load_bank(homework)
    for suffix in (".csv", ".md", ".yaml", ".jsonl", ".xlsx"):
        done = convert_bank(homework, tmp_path / f"out{suffix}")
        assert [q.to_dict() for q in load_bank(done.path)] == [q.to_dict() for q in bank], suffix
        assert not done.not_held


@pytest.mark.parametrize(
    ("text", "opened"),
    [("-", True), ("n/a", True), ("Open", True), ("(essay)", True), ("—", True), ("none", False), ("-1", False)],
)
def test_words_for_an_open_question(text, opened):
    assert is_open(text) is opened


@pytest.mark.parametrize(
    ("text", "decimals"),
    [
        ("What is r (2 decimals)?", 2),
        ("to three decimal places", 3),
        ("rounded to 2dp", 2),
        ("with 1 decimal digit", 1),
        ("auf zwei", None),
        ("2 decimals, then 3 decimals", None),
        ("2 decades", None),
    ],
)
def test_decimals_in_words(text, decimals):
    assert decimals_said(text) == decimals


def test_decimals_written():
    assert with_decimals("0.9", 2) == "0.90"
    assert with_decimals("3", 2) == "3.00"
    assert with_decimals("-0.5", 3) == "-0.500"
    assert with_decimals("0.957", 2) is None
    assert with_decimals("0.957", 2, rounded=True) == "0.96"
    assert with_decimals("13%", 2) is None
    assert with_decimals("1/3", 2) is None


def test_a_whole_number_beside_a_decimal_keeps_its_form(tmp_path):
    text = "question;answer\nMean (2 decimals) and count?;mean = 0.9; n = 5\n"
    path = save(tmp_path, "b.tsv", text.replace(";", "\t", 1).replace("?;", "?\t"))
    assert load_bank(path)["q1"].answers == {"mean": "0.90", "n": "5"}


def test_option_columns_and_worked_solutions(tmp_path):
    assert list(option_columns(["A", "B", "Points", "C"])) == ["A", "B", "C"]
    assert dict(option_columns(["Option 1", "option_2"])) == {"A": "Option 1", "B": "option_2"}
    assert option_columns(["A", "C"]) == {}
    path = save(tmp_path, "b.csv", "question,A,B,C,D,answer\nWhich?,mean,median,mode,,B\nTwo?,1,2,3,4,A and C\n")
    one, two = load_bank(path)
    assert one.options == {"A": "mean", "B": "median", "C": "mode"}
    assert (one.choice("answer"), two.choice("answer")) == (("B",), ("A", "C"))
    assert "letters of all right options" in two.format
    assert "A) mean\nB) median" in one.asked
    solution = "He bought 48/2 = <<48/2=24>>24.\nIn all 48+24 = 72.\n#### 72"
    rows = save(tmp_path, "g.jsonl", json.dumps({"question": "How many?", "answer": solution}) + "\n")
    (question,) = load_bank(rows)
    assert question.answers == {"answer": "72"}
    assert question.reference_text == solution
    assert final_answer("so\n\\boxed{1,234}.") == "1,234"
    assert final_answer("## 72") is None


def test_an_answer_that_names_no_option_is_not_marked(tmp_path):
    path = save(tmp_path, "b.csv", "question,A,B,answer\nWhich?,x,y,E\nWhich?,x,z,A\n")
    assert [q.marked for q in load_bank(path)] == [False, True]
    assert any("names none of the options" in text for text in said(path, "error"))


def test_columns_that_hold_names_of_files_are_taken(tmp_path):
    save(tmp_path, "data/a.csv", "x\n1\n")
    path = save(tmp_path, "b.csv", "question,answer,Which table\nRows?,1,a.csv\nColumns?,1,a.csv\n")
    assert {q.file_name for q in load_bank(path)} == {"a.csv"}
    other = save(tmp_path, "c.csv", "question,answer,Which table\nRows?,1,a.csv\nColumns?,1,b.csv\n")
    assert {q.file_name for q in load_bank(other)} == {None}
    assert any("'Which table'" in text for text in said(other, "note"))


GOOD = {"id": "a", "question": "Rows?", "format": "@n[v]", "level": "easy", "common_answers": [["n", "3"]]}


@pytest.mark.parametrize(
    "bad",
    [
        {"common_answers": [["n", "1"], ["n", "2"]]},
        {"common_answers": []},
        {"common_answers": [["n", None]]},
        {"format": "@m[v]"},
        {"format": "a number"},
        {"format": 3},
        {"tolerance": "wide"},
        {"options": ["alone"]},
    ],
)
def test_a_bad_answer_leaves_its_question_unmarked_and_the_others_as_they_are(tmp_path, bad):
    path = save(tmp_path, "b.jsonl", json.dumps(GOOD) + "\n" + json.dumps(GOOD | {"id": "b"} | bad) + "\n")
    bank = load_bank(path)
    assert [(q.id, q.marked) for q in bank] == [("a", True), ("b", False)]
    assert {f.question for f in bank.problems} == {"b"}
    done = convert_bank(path, tmp_path / "c.csv")
    assert done.questions == 2
    assert done.problems
    assert [q.marked for q in load_bank(tmp_path / "c.csv")] == [True, False]
    with pytest.raises(BankError):
        load_bank(path, strict=True)


@pytest.mark.parametrize("bad", ['{"id": "b"}', "[1]", "{", json.dumps(GOOD), json.dumps(GOOD | {"question": " "})])
def test_what_cannot_be_asked_is_left_out(tmp_path, bad):
    path = save(tmp_path, "b.jsonl", json.dumps(GOOD) + "\n" + bad + "\n")
    bank = load_bank(path)
    assert [q.id for q in bank] == ["a"]
    assert len(bank.problems) >= 1


def test_a_bad_level_costs_nothing_else(tmp_path):
    path = save(tmp_path, "b.csv", "question,answer,level\nRows?,3,esay\n")
    (question,) = load_bank(path)
    assert (question.level, question.marked) == ("medium", True)
    assert len(said(path, "error")) == 1


def test_data_files_in_another_folder_are_said_once(tmp_path):
    rows = "".join(f"How many {i}?,{i},t{i % 3}.csv\n" for i in range(30))
    path = save(tmp_path, "b.csv", "question,answer,data\n" + rows)
    save(tmp_path, "tables/t0.csv", "x\n1\n")
    (finding,) = examine_bank(path).errors
    assert "--data" in str(finding)
    assert "tables" in str(finding)
    with pytest.raises(BankError, match="none of the bank's 3 data files"):
        load_bank(path)
    (tmp_path / "tables" / "t1.csv").write_text("x\n1\n")
    (finding,) = examine_bank(path, tmp_path / "tables").errors
    assert "for 10 questions" in finding.message
    assert len(load_bank(path, tmp_path / "tables")) == 20


def test_a_string_names_a_bank(tmp_path):
    path = save(tmp_path, "b.csv", "question,answer\nRows?,3\n")
    assert len(load_bank(str(path), str(tmp_path))) == 1


def check(tmp_path: Path, **fields) -> list[tuple[str, str]]:
    row = {"id": "q", "question": "What?", "format": "@a[v]", "level": "easy", "common_answers": [["a", "1"]]}
    path = save(tmp_path, "c.jsonl", json.dumps(row | fields) + "\n")
    return [(f.severity, f.message) for f in check_bank(path).findings]


@pytest.mark.parametrize(
    ("truth", "form", "severity", "part"),
    [
        ("03/07/2015", "@a[date]", "warning", "3 July or 7 March"),
        ("3-7-15", "@a[date]", "warning", "3 July or 7 March"),
        ("03/07/2015", "@a[date] as DD/MM/YYYY", None, ""),
        ("25/12/2015", "@a[date]", None, ""),
        ("2015-03-07", '@a[month] in the form "YYYY-MM"', "error", "YYYY-MM"),
        ("2015-03", '@a[month] in the form "YYYY-MM"', None, ""),
        ("2015-03-07", "@a[date] as YYYY-MM-DD", None, ""),
        ("1, 2018, 88.32", '@a[month, year, price], a number "price" with 2 decimals', None, ""),
        ("1, 2018", '@a[price], a number "price"', "error", "is no number"),
        ("It is skewed to the right", "@a[text]", "warning", "free text"),
        ("Rwanda", "@a[country]", None, ""),
        ("skewed to the right", '@a[shape]: "skewed to the right" or "skewed to the left"', None, ""),
    ],
)
def test_findings_about_truths(tmp_path, truth, form, severity, part):
    found = check(tmp_path, common_answers=[["a", truth]], format=form)
    if severity is None:
        assert not [f for f in found if f[0] != "note"], found
    else:
        assert any(f[0] == severity and part in f[1] for f in found), found


def test_a_choice_whose_options_are_no_field_is_said(tmp_path):
    found = check(tmp_path, question="Which?\na) x\nb) y", common_answers=[["a", "b"]])
    assert any("names one of the options" in message for _, message in found)


def test_an_open_question_is_whole_in_every_form():
    question = Question(id="q", question="Why?", format="", level="easy", common_answers=[], unmarked=["answer"])
    assert not question.marked
