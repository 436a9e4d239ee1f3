from __future__ import annotations

import csv
import io
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsqa.errors import BankError, MissingDependencyError
from dsqa.prompting import preview
from dsqa.prompting.kinds import ColumnKind, is_missing
from dsqa.prompting.preview import MOST_CHARACTERS, MOST_COLUMNS
from dsqa.prompting.tables import ROWS_TYPED


def show(folder: Path, text: str | bytes, name: str = "a.csv", rows: int = 2) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return preview(path, rows)


def test_a_small_file_in_full(tmp_path):
    text = "name,age,score,passed,day\nAnn,31,4.5,yes,2024-01-31\nBo,,5,no,2024-02-01\nCy,7,NA,yes,2024-03-01\n"
    assert show(tmp_path, text) == (
        "File: a.csv (3 rows, 5 columns)\n"
        "Columns: name (text), age (integer, 1 missing), score (decimal, 1 missing), passed (yes/no), day (date)\n"
        "First 2 rows:\n"
        "name,age,score,passed,day\n"
        "Ann,31,4.5,yes,2024-01-31\n"
        "Bo,NA,5,no,2024-02-01"
    )


def test_no_rows_asked_for_and_none_there(tmp_path):
    assert show(tmp_path, "x\n1\n", rows=0) == "File: a.csv (1 row, 1 column)\nColumns: x (integer)"
    assert show(tmp_path, "x,y\n", name="b.csv") == "File: b.csv (0 rows, 2 columns)\nColumns: x (empty), y (empty)"


def test_one_row_is_named_as_one(tmp_path):
    assert "\nFirst row:\nx\n1" in show(tmp_path, "x\n1\n2\n", rows=1)


def test_rows_are_counted_by_records_not_by_line_breaks(tmp_path):
    text = 'a,b\n1,"two\nlines"\n\n2,x\n'
    assert pd.read_csv(io.StringIO(text)).shape == (2, 2)
    shown = show(tmp_path, text)
    assert shown.startswith("File: a.csv (2 rows, 2 columns)")
    assert r"1,two\nlines" in shown


def test_line_ends_of_windows_and_a_bom_do_not_show(tmp_path):
    plain = show(tmp_path, "a,b\n1,x\n")
    assert show(tmp_path, b"\xef\xbb\xbfa,b\r\n1,x\r\n") == plain


def test_semicolons_are_named(tmp_path):
    shown = show(tmp_path, "a;b\n1,5;x\n2,5;y\n")
    assert shown.splitlines()[0] == "File: a.csv (2 rows, 2 columns, separator: semicolon)"
    assert shown.splitlines()[-1] == "2,5;y"


def test_tsv_keeps_commas_inside_cells(tmp_path):
    shown = show(tmp_path, "a\tb\n1\tx,y\n", name="a.tsv")
    assert "separator: tab" in shown
    assert shown.endswith("1\tx,y")


@pytest.mark.parametrize(
    ("text", "columns", "separator"),
    [
        ("a,b\n1,2\n3,4\n", 2, None),
        ("a\tb\tc\n1\t2\t3\n", 3, "tab"),
        ("a|b\n1|2\n", 2, "vertical bar"),
        ("a   b c\n1  2  3\n4 5 6\n", 3, "spaces"),
        ("a,b\nNew York,2\nSan Jose,4\n", 2, None),
        ("value\n1\n2\n", 1, None),
    ],
)
def test_txt_is_sniffed(tmp_path, text, columns, separator):
    first = show(tmp_path, text, name="a.txt").splitlines()[0]
    assert f"{columns} column" in first
    assert (f"separator: {separator}" in first) if separator else ("separator" not in first)


def test_a_file_without_a_header_line(tmp_path):
    assert show(tmp_path, "9.5\n10.1\n10.4\n", name="aeroplane.txt") == (
        "File: aeroplane.txt (3 rows, 1 column, no header line)\n"
        "Columns: column 1 (decimal)\nFirst 2 rows:\n9.5\n10.1"
    )


def test_rs_row_names_get_a_column_of_their_own(tmp_path):
    shown = show(tmp_path, "x y\na 1 2\nb 3 4\n", name="a.txt")
    assert "Columns: (row name) (text), x (integer), y (integer)" in shown


def test_a_column_without_a_name(tmp_path):
    shown = show(tmp_path, ",x\n1,a\n")
    assert "Columns: (no name) (integer), x (text)" in shown
    assert shown.endswith(":\n,x\n1,a")


def test_rows_that_are_too_short_count_as_missing(tmp_path):
    assert "b (integer, 1 missing)" in show(tmp_path, "a,b\n1,2\n3\n")


def test_a_wide_file_is_cut_and_says_so(tmp_path):
    names = [f"v{i}" for i in range(MOST_COLUMNS + 7)]
    shown = show(tmp_path, ",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    assert "… and 7 more columns" in shown
    assert f"v{MOST_COLUMNS - 1} (integer), …" in shown
    assert f"v{MOST_COLUMNS}" not in shown
    assert shown.endswith("1,…")


def test_a_long_cell_is_cut_and_says_so(tmp_path):
    shown = show(tmp_path, "a\n" + "x" * (MOST_CHARACTERS + 12) + "\n")
    assert shown.endswith("x" * MOST_CHARACTERS + "… (12 more characters)")


def test_control_characters_cannot_break_the_lines(tmp_path):
    shown = show(tmp_path, "a,b\n\x1b[31m\u2028,\x07\n")
    assert shown.count("\n") == 4
    assert r"\x1b[31m\u2028,\x07" in shown


def test_latin1_is_read_and_named(tmp_path):
    shown = show(tmp_path, "town,n\nZürich,1\n".encode("latin-1"))
    assert "The file's encoding is latin-1." in shown
    assert shown.endswith("Zürich,1")


def test_utf16_is_read_and_named(tmp_path):
    assert "The file's encoding is utf-16." in show(tmp_path, "town,n\nZürich,1\n".encode("utf-16"))


def test_kinds_come_from_the_first_rows_of_a_long_file_and_all_rows_are_counted(tmp_path):
    rows = ROWS_TYPED + 5
    shown = show(tmp_path, "a\n" + "1\n" * ROWS_TYPED + "x\n" * 5)
    assert f"({rows} rows, 1 column)" in shown
    assert f"(Kinds and missing values are those of the first {ROWS_TYPED} rows.)" in shown
    assert "a (integer)" in shown


def test_a_large_file_is_not_held_in_memory(tmp_path):
    path = tmp_path / "large.csv"
    with path.open("w") as handle:
        handle.write("a,b\n")
        for _ in range(40):
            handle.write("1,some text that takes room\n" * 1000)
    tracemalloc.start()
    shown = preview(path, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "(40000 rows, 2 columns)" in shown
    assert peak < path.stat().st_size / 4


def test_a_changed_file_gives_a_new_preview(tmp_path):
    before = show(tmp_path, "a\n1\n")
    assert show(tmp_path, "a\n1\n2\n") != before


def test_the_same_bytes_under_another_locale_hash_seed_and_folder(tmp_path):
    text = "näme,v\nÅ,1\nß,2\n"
    here = show(tmp_path, text)
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.csv").write_text(text, encoding="utf-8")
    code = "import sys; from pathlib import Path; from dsqa.prompting import preview; "
    code += "sys.stdout.buffer.write(preview(Path('a.csv'), 2).encode())"
    environment = {"LC_ALL": "C", "PYTHONHASHSEED": "7", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], cwd=other, env=environment, capture_output=True, check=True)
    assert done.stdout.decode() == here


def test_other_kinds_of_file_are_only_named(tmp_path):
    assert show(tmp_path, b"\x89PNG", name="plot.png") == "File: plot.png"


def test_a_missing_file(tmp_path):
    with pytest.raises(BankError, match="no such data file"):
        preview(tmp_path / "none.csv", 2)


def test_an_empty_file(tmp_path):
    with pytest.raises(BankError, match="the data file is empty"):
        show(tmp_path, "\n\n")


def test_an_unclosed_quote_over_a_large_file_is_one_line(tmp_path):
    with pytest.raises(BankError, match="unclosed quote"):
        show(tmp_path, 'a,b\n1,"' + "x" * 200_000 + "\n")


def test_an_excel_file(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["name", "n", "day"], ["Ann", 1, pd.Timestamp("2024-01-31").to_pydatetime()], ["Bo", None, None]):
        book.active.append(row)
    book.create_sheet("notes")
    book.save(tmp_path / "a.xlsx")
    assert preview(tmp_path / "a.xlsx", 1) == (
        "File: a.xlsx (2 rows, 3 columns)\n"
        "Columns: name (text), n (integer, 1 missing), day (date, 1 missing)\n"
        "This is the sheet 'Sheet', the first of 2.\n"
        "First row:\nname,n,day\nAnn,1,2024-01-31 00:00:00"
    )


def test_an_excel_file_that_is_none(tmp_path):
    pytest.importorskip("openpyxl")
    with pytest.raises(BankError, match="not a readable Excel file"):
        show(tmp_path, b"a,b\n1,2\n", name="a.xlsx")


def test_excel_without_openpyxl_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match="pip install openpyxl"):
        show(tmp_path, b"PK", name="a.xlsx")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", "+3", " 4 "], "integer"),
        (["0", "1"], "integer"),
        (["1", "2.5", "1e-3", ".5", "inf"], "decimal"),
        (["yes", "No", "YES"], "yes/no"),
        (["TRUE", "false"], "yes/no"),
        (["2024-01-31", "2024-02-01T10:00:00Z"], "date"),
        (["31/01/2024", "1.2.2024"], "date"),
        (["1", "x"], "text"),
        (["1", "yes"], "text"),
        (["1,234"], "text"),
        (["NA", "", "NaN"], "empty"),
        (["NA", "3"], "integer"),
        (["٣"], "text"),
    ],
)
def test_kinds_in_plain_words(cells, kind):
    column = ColumnKind()
    for cell in cells:
        column.add(cell)
    assert column.name == kind


@given(st.sampled_from(["", "NA", "N/A", "NaN", "nan", "null", "None", "<NA>", "na", "-", "?", ".", "0"]))
def test_missing_is_what_pandas_takes_as_missing(cell):
    read = pd.read_csv(io.StringIO(f"a,b\n{cell},1\n"), dtype={"a": str})
    assert is_missing(cell) == bool(read["a"].isna()[0])


# NUL is what tells a binary file from a table (tested above all in tests/cli).
_CELL = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(st.lists(_CELL, min_size=1, max_size=5), min_size=1, max_size=6))
def test_any_table_gives_one_line_per_row(tmp_path, table):
    path = tmp_path / "h.csv"
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerow(["head", "er"])
        csv.writer(handle).writerows(table)
    lines = preview.__globals__["_preview"].__wrapped__(path, 50, 0, 0).split("\n")
    shown = int(lines[0].split("(")[1].split(" row")[0])
    assert len(lines) == 2 + (2 + shown if shown else 0)
