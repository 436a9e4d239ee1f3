"""Plain tables: every kind of file, which column is what, what is refused."""

from __future__ import annotations

import bz2
import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner

from dsqa.cli.importing import import_runs
from dsqa.errors import SourceError
from dsqa.importing import ImportOptions, import_study, read_map
from dsqa.importing.columns import choose_columns, known_name
from tests.importing.support import imported, records, row, write_lines

FRAME = pd.DataFrame(
    {
        "Question ID": ["a", "a", "b"],
        "Prompt": ["How many?", "How many?", "Why,\nand how?"],
        "Model": ["m"] * 3,
        "Temp": [0.7, 0.7, 0.7],
        "Trial": [1, 2, 1],
        "Response": ["Three.", 'Four, or "five".', "So."],
        "Expected": ["3", "3", "so"],
        "Latency (ms)": [1500, 1600, 900],
        "Correct": [True, False, None],
    }
)


def write_frame(path: Path) -> Path:
    if path.suffix == ".xlsx":
        FRAME.to_excel(path, index=False)
    elif path.suffix == ".parquet":
        FRAME.to_parquet(path)
    elif path.suffix == ".jsonl":
        FRAME.to_json(path, orient="records", lines=True)
    elif path.suffix == ".json":
        FRAME.to_json(path, orient="records")
    else:
        FRAME.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def check_frame(tmp_path: Path, path: Path) -> None:
    folder, _ = imported(tmp_path, path)
    found = [(r.question_id, r.run, r.text, r.seconds, r.temperature) for r in records(folder)]
    assert found == [
        ("a", 0, "Three.", 1.5, 0.7), ("a", 1, 'Four, or "five".', 1.6, 0.7), ("b", 0, "So.", 0.9, 0.7),
    ]  # fmt: skip
    assert [(q.id, q.question, q.answers) for q in folder.bank()] == [
        ("a", "How many?", {"answer": "3"}), ("b", "Why,\nand how?", {"answer": "so"}),
    ]  # fmt: skip
    marks = pd.read_parquet(folder.root / "source_metrics.parquet")
    assert marks["metric"].tolist() == ["Correct"] * 3
    assert marks["value"].isna().tolist() == [False, False, True]
    assert marks["value"].tolist()[:2] == [1.0, 0.0]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".parquet", ".jsonl", ".json"])
def test_every_kind_of_table_gives_the_same_runs(tmp_path: Path, suffix: str) -> None:
    check_frame(tmp_path, write_frame(tmp_path / f"t{suffix}"))


@pytest.mark.parametrize("packing", ["gz", "zip", "zst"])
def test_packed_tables_are_unpacked(tmp_path: Path, packing: str) -> None:
    plain = write_frame(tmp_path / "t.csv")
    packed = tmp_path / f"t.csv.{packing}"
    if packing == "gz":
        packed.write_bytes(gzip.compress(plain.read_bytes()))
    elif packing == "zip":
        with zipfile.ZipFile(packed, "w") as archive:
            archive.write(plain, "t.csv")
    else:
        pa = pytest.importorskip("pyarrow", reason="unpacks zstd")
        with pa.CompressedOutputStream(str(packed), "zstd") as stream:
            stream.write(plain.read_bytes())
    check_frame(tmp_path, packed)


@pytest.mark.parametrize(
    ("encoding", "change"),
    [("utf-8-sig", str), ("utf-16", str), ("utf-8", lambda text: text.replace("\n", "\r\n").replace(",\r\n", ",\n"))],
    ids=["BOM", "UTF-16", "CRLF"],
)
def test_what_excel_makes_of_csv_is_read(tmp_path: Path, encoding: str, change: Any) -> None:
    path = write_frame(tmp_path / "t.csv")
    path.write_bytes(change(path.read_text()).encode(encoding))
    check_frame(tmp_path, path)


def test_windows_1252_is_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("question,model,response\nWas ist das hier?,m,schön – ja\n".encode("cp1252"))
    folder, said = imported(tmp_path, path)
    assert records(folder)[0].text == "schön – ja"
    assert any("Windows-1252" in note for note in said["notes"])


def test_decimal_commas_between_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Frage-ID;Prompt;Model;T;Response;Score\n1;How?;m;0,7;So.;2,5\n")
    folder, _ = imported(tmp_path, path, reading={"columns": {"question": "Frage-ID"}})
    assert records(folder)[0].temperature == 0.7
    assert pd.read_parquet(folder.root / "source_metrics.parquet")["value"].tolist() == [2.5]


def test_questions_known_by_text_alone_are_numbered(tmp_path: Path) -> None:
    rows = [
        {"id": n, "Question": q, "model": "m", "answer": "x"} for n, q in enumerate(["Who is it?", "Why is it?"] * 2)
    ]
    folder, _ = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    # 'id' numbers the rows, so it is no id of a question.
    assert [(r.question_id, r.run) for r in records(folder)] == [("q1", 0), ("q2", 0), ("q1", 1), ("q2", 1)]


def test_a_column_question_of_ids_is_ids(tmp_path: Path) -> None:
    rows = [{"question": "dur_1", "model": "m", "output": "x"}]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert records(folder)[0].question_id == "dur_1"
    assert any("its id stands in its place" in made for made in said["made_up"])


@pytest.mark.parametrize(
    ("column", "field"),
    [
        ("Model Response", "text"), ("completion", "text"), ("ITERATION", "run"), ("epoch ", "run"),
        ("engine", "model"),
        ("temp.", "temperature"), ("T", "temperature"), ("gold", "truth"), ("correctAnswer", "truth"),
        ("correct", None),
        ("score", None), ("questionId", "question"), ("latency_ms", "milliseconds"), ("", None),
    ],
)  # fmt: skip
def test_names_of_columns(column: str, field: str | None) -> None:
    assert known_name(column) == field


def test_an_ambiguous_suggestion_is_refused_with_the_choices(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row(output="Three!")])
    with pytest.raises(SourceError) as caught:
        imported(tmp_path, path)
    assert "2 columns could be the response's text: 'response', 'output'" in str(caught.value)
    assert "--column text='response'" in str(caught.value)
    folder, _ = imported(tmp_path, path, reading={"columns": {"text": "output"}})
    assert records(folder)[0].text == "Three!"


def test_the_fields_own_name_wins(tmp_path: Path) -> None:
    assert choose_columns(["run", "epoch", "text", "question_id"], {}, [], tmp_path)["run"] == "run"


def test_a_blank_column_says_that_there_is_none(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row(label="positive")])
    folder, said = imported(tmp_path, path, reading={"columns": {"truth": ""}})
    assert not next(iter(folder.bank())).marked
    assert said["mapped"]["label"] == "metric of the source"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"tekst": "response"}, "'tekst' is no field of a run"),
        ({"text": "nothing"}, "has no column 'nothing' .it has: 'question_id', 'prompt'"),
    ],
)
def test_a_map_that_does_not_fit_is_refused(tmp_path: Path, columns: dict[str, str], message: str) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row()])
    with pytest.raises(SourceError, match=message):
        imported(tmp_path, path, reading={"columns": columns})


def test_maps_are_read_from_yaml(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text("question: Item\ntext: Antwort\ntruth:\n")
    assert read_map(path) == {"question": "Item", "text": "Antwort", "truth": ""}
    path.write_text("question: [1, 2]\n")
    with pytest.raises(SourceError, match="is no list of 'field: column'"):
        read_map(path)
    path.write_text("a: b\n  c: d\n")
    with pytest.raises(SourceError, match=r"map.yaml:2: is not valid YAML"):
        read_map(path)


def test_a_run_without_a_model_is_refused_unless_it_is_said(tmp_path: Path) -> None:
    given = {k: v for k, v in row().items() if k != "model"}
    path = write_lines(tmp_path / "t.jsonl", [given])
    with pytest.raises(SourceError, match=r"t.jsonl:1 does not say which model.*--model NAME"):
        imported(tmp_path, path, format_name="table")
    folder, _ = imported(tmp_path, path, format_name="table", reading={"model": "mine"})
    assert records(folder)[0].condition["model"] == "mine"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.jsonl", b"", "is empty"),
        ("blank.csv", b"\n\n", "is empty"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is binary, and of no format that is known"),
        ("other.csv", b"height,weight\n1,2\n", "is of no format that is known"),
        ("prose.txt", b"Dear all,\nhello\n", "is of no format that is known"),
        ("broken.gz", b"\x1f\x8b\x08\0\0", "is empty"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=message):
        imported(tmp_path, tmp_path / name)


def test_a_line_that_is_cut_off_is_named_and_can_be_passed_over(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row(run=0), row(run=1)])
    path.write_text(path.read_text()[:-20])
    with pytest.raises(SourceError, match=r"t.jsonl:2: not valid JSON.*ends in the middle of it.*--strict"):
        imported(tmp_path, path, reading={"skip_bad": False})
    folder, said = imported(tmp_path, path)
    assert len(records(folder)) == 1
    assert said["bad_rows"]["passed_over"] == 1


def test_nan_and_infinity_in_json_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"question_id": 1, "model": "m", "response": "x", "loss": NaN, "gain": -Infinity}\n')
    folder, _ = imported(tmp_path, path)
    assert pd.read_parquet(folder.root / "source_metrics.parquet")["value"].isna().all()


def test_ten_megabytes_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'question_id,model,response\na,m,"{"word, " * 1_800_000}"\n')
    folder, _ = imported(tmp_path, path)
    assert len(records(folder)[0].text) == 10_800_000


def test_a_row_of_more_cells_than_the_header_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("question_id,model,response\na,m,yes\nb,m,yes, but\n")
    with pytest.raises(SourceError, match=r"t.csv:3: has 4 cells, and the header has 3 .put a text with a ',' in it"):
        imported(tmp_path, path, reading={"skip_bad": False})


def test_usage_status_and_nested_columns(tmp_path: Path) -> None:
    rows = [
        row(run=0, input_tokens=9, output_tokens=4, finish_reason="length", extra={"judge": 1, "deep": {"er": 2}})
    ]
    rows += [row(run=1, response=None, error="429 Too Many Requests"), row(run=2, response=" ")]
    folder, _ = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    found = records(folder)
    assert [r.status for r in found] == ["truncated", "failed", "empty"]
    assert found[0].usage == {"prompt_tokens": 9, "completion_tokens": 4}
    table = pd.read_parquet(folder.root / "source_metrics.parquet")
    assert set(table["metric"]) >= {"extra.judge", "extra.deep.er"}


def test_files_of_two_formats_are_refused(tmp_path: Path) -> None:
    table = write_lines(tmp_path / "t.jsonl", [row()])
    theirs = write_lines(
        tmp_path / "x_gpt_4o_1.jsonl", [{"id": 1, "round": 0, "status": "completed", "words": 1, "reasoning": ""}]
    )
    with pytest.raises(SourceError, match="the files are of several formats"):
        imported(tmp_path, [table, theirs])


def test_windows_paths_of_data_files_do_no_harm(tmp_path: Path) -> None:
    rows = [row(data_file=r"C:\Users\me\cars.csv")]
    folder, _ = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    question = next(iter(folder.bank()))
    assert question.file_name is None
    assert question.to_dict()["source_file"] == r"C:\Users\me\cars.csv"


def test_data_files_come_along_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "cars.csv").write_text("x\n1\n")
    folder, _ = imported(
        tmp_path, write_lines(tmp_path / "t.jsonl", [row(data_file="cars.csv")]), data=tmp_path / "d"
    )
    assert (folder.bank_dir / "data" / "cars.csv").read_text() == "x\n1\n"
    assert list(folder.describe().data_hashes) == ["cars.csv"]


def test_a_dry_run_shows_the_columns_and_writes_nothing(tmp_path: Path) -> None:
    path = write_frame(tmp_path / "t.csv")
    done = CliRunner().invoke(import_runs, [str(path), "--dry-run"])
    assert done.exit_code == 0, done.output
    assert "  text               Response" in done.stderr
    assert "Nothing was written" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.csv"]


def test_the_command_prints_the_folder_and_what_it_did(tmp_path: Path) -> None:
    path, out = write_frame(tmp_path / "t.csv"), tmp_path / "runs" / "s"
    done = CliRunner().invoke(import_runs, [str(path), "--out", str(out), "--column", "truth=", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["folder"] == str(out)
    assert said["runs"] == 3
    assert CliRunner().invoke(import_runs, [str(path)]).exit_code == 2
    assert CliRunner().invoke(import_runs, [str(path), "--dry-run", "--column", "truth"]).exit_code == 2


def test_other_packings_are_not_taken_for_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.bz2"
    path.write_bytes(bz2.compress(write_frame(tmp_path / "t.csv").read_bytes()))
    with pytest.raises(SourceError, match="of no format that is known"):
        import_study([path], tmp_path / "s", ImportOptions())


def test_the_first_sheet_with_names_is_read_and_others_are_said(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "about"
    book.active.append(["Made by us"])
    sheet = book.create_sheet("runs")
    sheet.append(["Our runs"])
    sheet.append(["question_id", "model", "response", "run"])
    sheet.append([1, "m", "3.0", 1])
    book.save(tmp_path / "t.xlsx")
    folder, said = imported(tmp_path, tmp_path / "t.xlsx")
    assert [(r.question_id, r.text) for r in records(folder)] == [("1", "3.0")]
    assert [left["what"] for left in said["left_out"]] == ["sheet 'about'"]


def german(path: Path, header: list[str]) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Chatbot-Test, Statistik I"])
    sheet.merge_cells("A1:D1")
    sheet.append(header)
    for number in (1.0, 2.0):
        sheet.append(["A1", number, "Drei.", "3"])
        sheet.append([])
    book.save(path)
    return path


def test_german_headings_under_a_merged_title_are_known(tmp_path: Path) -> None:
    path = german(tmp_path / "t.xlsx", ["Aufgabe", "Versuch", "Antwort", "Musterlösung"])
    folder, _ = imported(tmp_path, path, reading={"model": "m"})
    assert [(r.question_id, r.run, r.text) for r in records(folder)] == [("A1", 0, "Drei."), ("A1", 1, "Drei.")]


def test_columns_that_a_person_names_tell_the_header_of_a_workbook(tmp_path: Path) -> None:
    path = german(tmp_path / "t.xlsx", ["Kysymys", "Kerta", "Vastaus", "Oikea"])
    with pytest.raises(SourceError, match="--column text=COLUMN"):
        imported(tmp_path, path, reading={"model": "m"})
    said = {"question": "kysymys", "run": "Kerta", "text": "Vastaus", "truth": "Oikea"}
    folder, _ = imported(tmp_path, path, reading={"model": "m", "columns": said})
    assert [(r.question_id, r.run, r.text) for r in records(folder)] == [("A1", 0, "Drei."), ("A1", 1, "Drei.")]
