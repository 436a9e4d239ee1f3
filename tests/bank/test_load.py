from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.bank import format_names, load_bank
from dsqa.errors import BankError

GOOD = {
    "id": 0,
    "question": "How many rows are there?",
    "concepts": ["Data Understanding"],
    "format": '@n_rows[n] where "n" is an integer',
    "file_name": "a.csv",
    "level": "easy",
    "common_answers": [["n_rows", 348]],
}


def row(**changes) -> dict:
    return {k: v for k, v in {**GOOD, **changes}.items() if v is not ...}


def write(folder: Path, *rows, data: tuple[str, ...] = ("a.csv",), name: str = "bank.jsonl") -> Path:
    path = folder / name
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for file in data:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("x\n1\n")
    return path


def error(path: Path, **kwargs) -> BankError:
    with pytest.raises(BankError) as caught:
        load_bank(path, strict=True, **kwargs)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return caught.value


def test_reads_the_papers_own_example(tmp_path):
    # Appendix A prints it with id 0 as a number and the answer as text.
    line = (
        '{"id": 0, "question": "How many tourist attractions are there in the data set?", '
        '"concepts": ["Data understanding"], "format": "@count_visitor_value[count_visitor_value] where '
        '\\"count_visitor_value\\" is given in integer format.", "file_name": "UK-visitor-numbers.csv", '
        '"level": "easy", "common_answers": [["count_visitor_value", "348"]]}'
    )
    bank = load_bank(write(tmp_path, line, data=("UK-visitor-numbers.csv",)))
    (question,) = bank
    assert (question.id, question.level, question.category) == ("0", "easy", "Data understanding")
    assert question.answers == {"count_visitor_value": "348"}
    assert bank.data_file(question) == tmp_path / "UK-visitor-numbers.csv"


def test_blank_lines_are_skipped_but_counted(tmp_path):
    path = write(tmp_path, "", row(), "   ", "\r", row(id=1, level="esay"))
    assert error(path).line == 5


def test_windows_line_ends_and_a_bom_are_accepted(tmp_path):
    path = write(tmp_path, row())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert [q.id for q in load_bank(path)] == ["0"]


def test_a_line_separator_inside_text_does_not_end_the_line(tmp_path):
    path = write(tmp_path, row(question="One\u2028two\x85three"))
    assert load_bank(path)["0"].question == "One\u2028two\x85three"


def test_malformed_json_names_line_and_column(tmp_path):
    caught = error(write(tmp_path, row(), '{"id": 1, "question" "x"}'))
    # The colon is missing where column 22 begins.
    assert caught.line == 2
    assert "column 22" in caught.message


def test_malformed_json_after_a_bom_counts_columns_without_it(tmp_path):
    path = write(tmp_path, '{"id" 1}')
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert "column 7" in error(path).message


def test_an_object_over_several_lines_is_read_as_one(tmp_path):
    one, other = row(), row(id="other")
    path = write(tmp_path, json.dumps(one, indent=2), json.dumps(other, indent=2))
    assert [question.id for question in load_bank(path)] == ["0", "other"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [("[1]", "a list"), ("3", "a number"), ('"x"', "text"), ("null", "null"), ("true", "true/false")],
)
def test_a_line_that_is_no_object_says_what_it_is(tmp_path, line, kind):
    caught = error(write(tmp_path, row(), line))
    assert (caught.line, caught.message) == (2, f"is {kind}, not an object")


def test_a_key_given_twice_is_refused(tmp_path):
    line = json.dumps(row())[:-1] + ', "level": "hard"}'
    assert "'level' stands twice" in error(write(tmp_path, line)).message


def test_nan_outside_quotes_is_refused(tmp_path):
    line = json.dumps(row(common_answers=[["n_rows", float("nan")]]))
    assert "NaN is not JSON" in error(write(tmp_path, line)).message


def test_absurdly_deep_json_is_one_line(tmp_path):
    assert error(write(tmp_path, "[" * 200_000)).line == 1


def test_an_integer_too_long_for_python_is_one_line(tmp_path):
    assert error(write(tmp_path, '{"id": ' + "1" * 5000 + "}")).line == 1


@pytest.mark.parametrize("field", ["id", "question", "format", "level", "common_answers"])
def test_a_missing_field_is_named(tmp_path, field):
    caught = error(write(tmp_path, row(), row(id=1, **{field: ...}) if field != "id" else row(id=...)))
    assert (caught.line, caught.field) == (2, field)
    assert "missing" in caught.message or field == "level"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("question", 3),
        ("question", ""),
        ("question", "  "),
        ("id", None),
        ("id", " "),
        ("id", True),
        ("format", ["@n_rows[n]"]),
        ("file_name", 7),
        ("concepts", "Data Summary"),
        ("concepts", [1]),
        ("common_answers", []),
        ("common_answers", {"n_rows": "348"}),
        ("common_answers", [["n_rows"]]),
        ("common_answers", [["n_rows", "1", "2"]]),
        ("common_answers", [["n_rows", None]]),
    ],
)
def test_an_ill_typed_field_is_named(tmp_path, field, value):
    caught = error(write(tmp_path, row(**{field: value})))
    assert (caught.line, caught.field) == (1, field)
    assert "pydantic" not in str(caught).lower()


def test_a_level_outside_the_set_lists_the_levels(tmp_path):
    caught = error(write(tmp_path, row(level="Medum")))
    assert caught.message == '"Medum" is not a level'
    assert caught.hint == "levels are: easy, medium, hard; did you mean 'medium'?"


def test_a_duplicate_id_names_both_lines(tmp_path):
    caught = error(write(tmp_path, row(), "", row(id=1), row(id="0")))
    assert (caught.line, caught.field) == (4, "id")
    assert "'0' is already the id of line 1" in caught.message


def test_format_asks_for_an_answer_that_is_not_given(tmp_path):
    caught = error(write(tmp_path, row(format="@n_rows[n] @n_cols[m]")))
    assert caught.field == "format"
    assert "'@n_cols[...]'" in caught.message


def test_an_answer_that_format_does_not_ask_for(tmp_path):
    caught = error(write(tmp_path, row(common_answers=[["n_rows", "1"], ["zebra", "2"]])))
    assert caught.field == "common_answers"
    assert "'zebra'" in caught.message


def test_names_that_differ_in_case_suggest_each_other(tmp_path):
    caught = error(write(tmp_path, row(format="@N_Rows[n]")))
    assert caught.hint == "did you mean 'n_rows'?"


def test_a_format_without_a_placeholder(tmp_path):
    caught = error(write(tmp_path, row(format="a number, mailed to me@home.org [soon]")))
    assert caught.field == "format"
    assert caught.hint == "for example @n_rows[value]"


def test_an_answer_given_twice(tmp_path):
    caught = error(write(tmp_path, row(common_answers=[["n_rows", "1"], ["n_rows", "2"]])))
    assert "'n_rows' 2 times" in caught.message


def test_a_missing_data_file_names_the_path_and_the_closest(tmp_path):
    caught = error(write(tmp_path, row(file_name="Penguin.csv"), data=("penguins.csv", "zoo.csv")))
    assert caught.field == "file_name"
    assert str(tmp_path / "Penguin.csv") in caught.message
    assert caught.hint == "did you mean 'penguins.csv'?"


def test_a_missing_data_folder_is_named(tmp_path):
    caught = error(write(tmp_path, row(), data=()), data_dir=tmp_path / "nowhere")
    assert f"there is no folder {tmp_path / 'nowhere'}" in caught.hint


def test_missing_data_is_accepted_when_not_checked(tmp_path):
    assert len(load_bank(write(tmp_path, row(), data=()), check_data=False)) == 1


def test_a_folder_is_not_a_data_file(tmp_path):
    (tmp_path / "sub").mkdir()
    assert "is a folder" in error(write(tmp_path, row(file_name="sub"))).message


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../a.csv", "sub/../../a.csv", "C:\\data\\a.csv", "..\\a.csv", "\\a.csv"]
)
def test_a_data_file_outside_the_folder_is_refused_even_unchecked(tmp_path, name):
    path = write(tmp_path, row(file_name=name))
    for check in (True, False):
        assert "leads out of the data folder" in error(path, check_data=check).message


def test_a_data_file_in_a_subfolder_and_dots_in_a_name_are_fine(tmp_path):
    path = write(tmp_path, row(file_name="sub/a..b.csv"), data=("sub/a..b.csv",))
    assert len(load_bank(path)) == 1


def test_a_name_too_long_for_the_file_system_is_one_line(tmp_path):
    assert error(write(tmp_path, row(file_name="x" * 5000 + ".csv"))).field == "file_name"


def test_no_data_file_at_all_is_fine_and_a_blank_one_is_not(tmp_path):
    assert load_bank(write(tmp_path, row(file_name=...)))["0"].file_name is None
    assert load_bank(write(tmp_path, row(file_name=None)))["0"].file_name is None
    assert error(write(tmp_path, row(file_name=""))).message == "is blank"


def test_the_folder_data_beside_the_bank_wins_by_default(tmp_path):
    path = write(tmp_path, row(), data=("a.csv", "data/a.csv"))
    assert load_bank(path).data_dir == tmp_path / "data"
    assert load_bank(path, tmp_path).data_dir == tmp_path


def test_an_empty_bank(tmp_path):
    assert error(write(tmp_path, "")).message == "holds no question"


def test_a_missing_bank_suggests_the_closest(tmp_path):
    write(tmp_path, row(), name="homework.jsonl")
    caught = error(tmp_path / "homewrok.jsonl")
    assert caught.hint == f"did you mean '{tmp_path / 'homework.jsonl'}'?"


def test_a_missing_folder_of_a_bank(tmp_path):
    assert "there is no folder" in error(tmp_path / "no" / "bank.jsonl").hint


def test_a_folder_is_not_a_bank(tmp_path):
    assert "is a folder" in error(tmp_path).message


def test_text_that_is_not_utf8_names_the_line(tmp_path):
    path = write(tmp_path, row(), row(id=1, question="Zürich"))
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    caught = error(path)
    assert caught.line == 2
    assert "0xfc" in caught.message


def test_half_a_surrogate_pair_is_refused(tmp_path):
    assert error(write(tmp_path, json.dumps(row(question="x \ud800")))).field == "question"


def test_further_fields_are_kept(tmp_path):
    question = load_bank(write(tmp_path, row(author="me")))["0"]
    assert question.model_dump()["author"] == "me"


def test_format_names_in_order_and_once():
    assert format_names('@b[x], @a[y] and again @b[z]; me@c.org, "@ d[1]"') == ("b", "a")


@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_characters="@[]", exclude_categories=["Z", "C"]), min_size=1),
        unique=True,
    )
)
def test_format_names_finds_every_name(names):
    assert format_names(" ".join(f"@{n}[value]" for n in names)) == tuple(names)


@given(st.binary(max_size=300))
def test_any_bytes_give_a_bank_or_one_line(tmp_path_factory, raw):
    path = tmp_path_factory.mktemp("bank") / "b.jsonl"
    path.write_bytes(raw)
    message = ""
    try:
        load_bank(path)
    except BankError as caught:
        message = str(caught)
    assert "\n" not in message
