"""The rendered report of a simulated study."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest

from dsqa.report import open_page, render_report
from dsqa.report.locate import notebook_path
from dsqa.study import StudyFolder
from tests.report.conftest import FEW
from tests.report.html import Document


@pytest.fixture(scope="module")
def document(rendered: dict[str, Path]) -> Document:
    return Document(rendered["html"])


def test_html_fetches_nothing(document: Document) -> None:
    loads = [
        value
        for tag, values in document.tags
        for key, value in values.items()
        if key in {"src", "srcset", "poster", "data", "action", "background"} or (tag != "a" and key == "href")
    ]
    assert len(loads) >= 5
    assert all(value.startswith("data:") for value in loads)
    for style in document.styles:
        assert "@import" not in style
        assert not re.findall(r"url\((?!['\"]?data:)", style)
    names = {tag for tag, _ in document.tags}
    assert not names & {"iframe", "link", "object", "embed", "base"}


def test_html_handlers_are_absent(document: Document) -> None:
    assert not [key for _, values in document.tags for key in values if key.startswith("on")]
    assert not [v for v in document.all("a") if v.get("href", "").lower().startswith("javascript")]


def test_links_inside_the_report_lead_somewhere(document: Document) -> None:
    ids = [values["id"] for _, values in document.tags if "id" in values]
    assert len(ids) == len(set(ids))
    targets = {v["href"][1:] for v in document.all("a") if v.get("href", "").startswith("#")}
    assert len(targets) > 10
    assert targets <= set(ids)


def test_table_of_questions_agrees_with_the_statistics(document: Document, study: StudyFolder) -> None:
    page = open_page(study.root, **FEW)
    header, *rows = document.tables["tbl-questions"]
    assert header == ["Question", "Condition", "Verdict", "Right", "Instability", "Top answer", "Right answer"]
    assert len(rows) == len(page.cells) == 12
    for row, cell in zip(rows, page.cells.itertuples(), strict=True):
        assert row[0].startswith(str(cell.question_id))
        assert row[1].replace("\xa0", " ") == f"T = {cell.temperature:g}"
        assert row[2] == f"{cell.verdict}{'' if cell.settled else ' ?'}"
        right = round(cell.accuracy * cell.runs)
        low, high = 100 * cell.accuracy_low, 100 * cell.accuracy_high
        assert row[3].replace("\xa0", " ") == f"{right}/10 [{low:.0f}, {high:.0f}] %"
        spread = f"{cell.instability:.2f} [{cell.instability_low:.2f}, {cell.instability_high:.2f}]"
        assert row[4].replace("\xa0", " ") == spread
        assert row[6] == "42"


def test_top_answers_by_hand(document: Document, study: StudyFolder) -> None:
    # Question 1 is always right; question 2 never.
    rows = document.tables["tbl-questions"][1:]
    assert [row[5].replace("\xa0", " ") for row in rows[:2]] == ["42 ✓ 100 %"] * 2
    assert all("✓" not in row[5] for row in rows[2:4])


def test_verdict_table_names_every_question_once_per_condition(document: Document, study: StudyFolder) -> None:
    header, *rows = document.tables["tbl-verdicts"]
    page = open_page(study.root, **FEW)
    for row, condition in zip(rows, page.conditions, strict=True):
        for title, text in zip(header[1:], row[1:], strict=True):
            hits = page.cells[(page.cells["condition_id"] == condition) & (page.cells["verdict"] == title.lower())]
            assert text.split()[0] == str(len(hits))
            assert re.findall(r"q\d\d", text) == list(hits["question_id"])
            assert text.count("?") == int((~hits["settled"]).sum())


def test_ledger_agrees_with_the_outcomes(document: Document, study: StudyFolder) -> None:
    outcomes = open_page(study.root, **FEW).outcomes
    header, *rows = document.tables["tbl-ledger"]
    total = dict(zip(header, rows[-1], strict=True))
    assert total["Condition"] == "All"
    assert int(total["Runs"]) == len(outcomes) == 120
    for status in ("answered", "truncated", "failed"):
        assert int(total[status.capitalize()]) == int((outcomes["status"] == status).sum())
    assert sum(int(total[name]) for name in header[2:8]) == 120
    assert int(total["No answer read"]) == int((outcomes["answer_status"] == "unparsed").sum())


def test_headings_are_in_order(document: Document) -> None:
    levels = [level for level, _ in document.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert next(text for level, text in document.headings if level == 2) == "The answer"


def test_every_picture_has_an_alternative(document: Document) -> None:
    pictures = document.all("img")
    assert len(pictures) == 5
    assert all(len(picture["alt"]) > 40 for picture in pictures)


def test_hostile_response_is_shown_as_text(document: Document, rendered: dict[str, Path]) -> None:
    for literal in (
        "<script>alert('INJECTED')</script>",
        "<b>RAWBLOCK</b>",
        "$x^2$ and \\(y\\) and $$z$$ and @fig-nothing and [@nobody] and @tbl-ledger",
        "# A heading of the model's",
        "include /etc/passwd",
        "END-OF-HOSTILE",
    ):
        assert literal in document.text
    assert "{{<" not in document.text
    assert "root:x:" not in document.text
    html = rendered["html"].read_text(encoding="utf-8")
    assert not re.search("[\x00-\x08\x0e-\x1f\ud800-\udfff\u202e]", html)


def test_references_and_settings_are_there(document: Document) -> None:
    for text in (
        "Wilson",
        "Ni, Wenqi",
        "2611.09729",
        "question-v1",
        "temperatures:",
        "seed 11",
        "2026-11-30 08:00 UTC",
    ):
        assert text in document.text
    assert "??" not in document.text
    assert not re.search(r"@(fig|tbl|eq|sec)-(?!nothing|ledger)", document.text)
    assert not re.search(r"\b(nan|NaN|None|<NA>)\b", document.text.replace("None is", ""))


def test_one_file_of_modest_size(rendered: dict[str, Path]) -> None:
    assert rendered["html"].stat().st_size < 2_000_000


def test_pdf_has_pages(rendered: dict[str, Path]) -> None:
    data = rendered["pdf"].read_bytes()
    assert data.startswith(b"%PDF-1.")
    assert data.rstrip().endswith(b"%%EOF")
    assert 5 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", data)) <= 20


def test_word_file_holds_text_tables_and_pictures(rendered: dict[str, Path]) -> None:
    with zipfile.ZipFile(rendered["docx"]) as archive:
        body = archive.read("word/document.xml").decode()
        pictures = [name for name in archive.namelist() if name.startswith("word/media/")]
    assert len(pictures) == 5
    assert body.count("<w:tbl>") > 10
    assert "Table 1." in body.replace("\xa0", " ")
    assert "stable and right" in body


def test_nothing_else_is_left_in_the_folder(rendered: dict[str, Path], study: StudyFolder) -> None:
    assert sorted(p.name for p in study.report_dir.iterdir()) == [
        "overview.docx",
        "overview.html",
        "overview.ipynb",
        "overview.pdf",
    ]


def test_executed_notebook_holds_no_time_and_no_path(rendered: dict[str, Path], study: StudyFolder) -> None:
    text = (study.report_dir / "overview.ipynb").read_text(encoding="utf-8")
    assert str(study.root.parent) not in text
    notebook = json.loads(text)
    assert "papermill" not in notebook["metadata"]
    assert not any("papermill" in cell["metadata"] for cell in notebook["cells"])


def test_same_bytes_again_and_elsewhere(rendered: dict[str, Path], study: StudyFolder, tmp_path: Path) -> None:
    copy = StudyFolder(tmp_path / "elsewhere")
    shutil.copytree(study.root, copy.root, ignore=shutil.ignore_patterns("report", "figures"))
    [again] = render_report(copy, parameters=FEW)
    assert again.read_bytes() == rendered["html"].read_bytes()


def test_notebook_runs_under_papermill_by_itself(study: StudyFolder, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "papermill", str(notebook_path("overview")), "out.ipynb",
            "-p", "study", str(study.root), "-p", "resamples", "199",
        ],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    outputs = [
        output.data["text/markdown"]
        for cell in nbformat.read(tmp_path / "out.ipynb", 4).cells
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    ]
    pictures = re.findall(r"!\[\]\(([^)]+)\)\{fig-alt=", "".join(outputs))
    assert len(pictures) == 5
    assert all((tmp_path / unquote(picture)).is_file() for picture in pictures)
