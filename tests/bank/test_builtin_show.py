"""`dsqa bank show` and `dsqa init --default`, as a user calls them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from dsqa.bank import builtin_bank_path, load_bank, select_questions, subsets_of
from dsqa.bank.composition import composition_of
from dsqa.cli.bank import bank as bank_commands
from dsqa.cli.bank import show
from dsqa.cli.init import init
from dsqa.errors import BankError
from dsqa.sampling.prepare import prepare_study
from dsqa.study.parse import load_study

BANK = load_bank(builtin_bank_path())
ROW = (
    '{"id": "%s", "question": "How many?", "concepts": ["Data Summary"], "format": "@n[value]", "level": "easy", '
    '"common_answers": [["n", "5"]]}\n'
)


def run(command, *args: object, code: int = 0):
    result = CliRunner().invoke(command, [str(a) for a in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code
    return result.stdout


def test_composition_and_a_line_for_each_question():
    lines = run(show).splitlines()
    assert ["Clustering", "-", "-", "2", "2"] in [line.split() for line in lines]
    assert ["total", "22", "39", "39", "100"] in [line.split() for line in lines]
    shown = [line.split()[0] for line in lines if line.startswith("  ")]
    assert [name for name in shown if name in {q.id for q in BANK}] == [q.id for q in BANK]


def test_nothing_is_wider_than_80_columns_where_the_terminal_is_unknown():
    whole = run(show, *(part for q in BANK for part in ("--question", q.id)))
    for text in (run(show).split("\n", 1)[1], whole):  # the first line names the file
        assert max(len(line) for line in text.splitlines()) <= 80


def test_a_question_is_shown_whole():
    text = " ".join(run(show, "--question", "ucb_stratified").split())
    question = BANK["ucb_stratified"]
    for said in (question.question, question.format, question.reference_text, "@odds_ratio[0.905]", "1.427"):
        assert said in text
    assert text.count("criterion:") == 5


def test_a_selection_is_counted_by_itself():
    made_of = composition_of(select_questions(BANK, ["default-41"]))
    result = json.loads(run(show, "--subset", "default-41", "--json"))
    assert result["total"] == 41
    assert result["levels"] == made_of.levels
    assert result["by_category"] == made_of.by_category


def test_json_holds_what_a_script_needs():
    result = json.loads(run(show, "--json"))
    assert result["hash"] == BANK.hash
    assert len(result["questions"]) == 100
    assert all(len(question["criteria"]) == 5 for question in result["questions"])
    assert result["subsets"]["default-41"] == list(subsets_of(BANK)["default-41"].questions)


def test_the_built_in_bank_passes_its_own_check():
    assert "nothing to mend" in run(bank_commands, "check", builtin_bank_path())


def test_a_users_bank(tmp_path):
    (tmp_path / "mine.jsonl").write_text(ROW % "a" + ROW % "b")
    assert "2 questions" in run(show, tmp_path / "mine.jsonl")


def test_no_such_question_selection_or_bank(tmp_path):
    with pytest.raises(BankError, match="no question has the id 'nope'"):
        run(show, "--question", "nope")
    with pytest.raises(BankError, match="default-41"):
        run(show, "--subset", "default-14")
    with pytest.raises(BankError, match="no such bank file"):
        run(show, tmp_path / "none.jsonl")


@pytest.fixture
def small(tmp_path):
    def bank(subsets: str):
        (tmp_path / "bank.jsonl").write_text(ROW % "a" + ROW % "b" + ROW % "c")
        (tmp_path / "subsets.yaml").write_text(subsets)
        return load_bank(tmp_path / "bank.jsonl")

    return bank


def test_a_bank_of_ones_own_has_selections_too(small):
    bank = small("short: {about: a first look, questions: [c, a]}\nplain: [b]\n")
    assert [q.id for q in select_questions(bank, ["short"])] == ["c", "a"]
    assert [q.id for q in select_questions(bank, ["plain", "short"])] == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("subsets", "said"),
    [
        ("- a\n- b\n", "is not a list of names"),
        ("short: {about: nothing}\n", "names no questions"),
        ("short: []\n", "names no questions"),
        ("a: [b]\n", "is the id of a question"),
        ("short: [a\n", "not valid YAML"),
    ],
)
def test_a_selection_that_makes_no_sense(small, subsets, said):
    with pytest.raises(BankError, match=said):
        select_questions(small(subsets), ["short"])


def test_a_selection_of_a_question_that_is_not_there(small):
    with pytest.raises(BankError, match="no question has the id 'z'"):
        select_questions(small("short: [a, z]\n"), ["short"])


def test_an_empty_file_of_selections_is_none(small):
    assert subsets_of(small("# later\n")) == {}


@pytest.mark.parametrize("embedded", [False, True])
def test_the_default_study_is_written_and_asks_its_41_questions(tmp_path, embedded):
    options = ["--embedded"] if embedded else []
    run(init, tmp_path / "study", "--default", *options)
    assert [p.name for p in (tmp_path / "study").iterdir()] == ["study.yaml"]
    path = tmp_path / "study" / "study.yaml"
    folder = prepare_study(load_study(path), path, tmp_path / "run")
    assert [q.id for q in folder.bank()] == list(subsets_of(BANK)["default-41"].questions)
