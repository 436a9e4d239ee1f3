"""How a Quarto is run: what of its messages is shown, and what happens where it fails."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from dsqa.errors import ReportError
from dsqa.report import render_report
from dsqa.report.execute import notebook_text
from dsqa.report.quarto import QuartoError, messages, quarto_for
from dsqa.report.site.whole import what_is_wrong
from tests.report.tiny_site import NAMES, TinySite

PAGES = ("index.html", *(f"{name}.html" for name in NAMES))

LUA = (
    """pandoc
  to: html
ERROR (/opt/quarto/share/filters/main.lua:9543) An error occurred while rendering
  the table tbl-all: no such column
Error running filter /opt/quarto/share/filters/main.lua:
/tmp/x/filters/dsqa.lua:64: the label 'sec-a' is used twice
stack traceback:
\t[C]: in function 'error'
\t/tmp/x/filters/dsqa.lua:64: in function </tmp/x/filters/dsqa.lua:48>
"""
    + "\t[C]: in ?\n" * 40
)


@pytest.mark.parametrize(
    ("said", "errors", "warnings"),
    [
        (
            LUA,
            [
                "An error occurred while rendering the table tbl-all: no such column",
                "the label 'sec-a' is used twice",
            ],
            [],
        ),
        ("\x1b[31mERROR: \x1b[39mNo valid input\n\nStack trace:\n  at x\n", ["No valid input"], []),
        (
            "[1/2] a.ipynb\nWARNING (main.lua:12) Unable to resolve crossref @fig-x\n[2/2] b.ipynb\n"
            "WARN: Unable to resolve link target: gone.ipynb\nOutput created: _site/index.html\n",
            [],
            ["Unable to resolve crossref @fig-x", "Unable to resolve link target: gone.ipynb"],
        ),
        (
            "WARNING (main.lua:1)\nThe following string was found in the document: :::\n\nThis usually means that\n",
            [],
            ["The following string was found in the document: :::"],
        ),
        (
            "[WARNING] Could not fetch resource x.svg\n[WARNING] Could not fetch resource x.svg\n",
            [],
            ["Could not fetch resource x.svg"],
        ),
        ("error: unknown variable: foo\n   ┌─ a.typ:3:1\n   │\n\n", ["unknown variable: foo ┌─ a.typ:3:1 │"], []),
        ("an error here, a WARNING there\nerrors: 3\nWARNINGS\n", [], []),
        ("", [], []),
    ],
)
def test_messages(said: str, errors: list[str], warnings: list[str]) -> None:
    assert messages(said) == (errors, warnings)


def test_long_message_is_cut() -> None:
    [one], _ = messages("ERROR: " + "x" * 5000)
    assert len(one) == 400


def stand_in(folder: Path, script: str, version: str = "1.8.1") -> str:
    """Write a program that answers --version and else runs a script."""
    folder.mkdir(exist_ok=True)
    program = folder / "quarto"
    program.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo {version}; exit; fi\n{script}\n')
    program.chmod(0o755)
    return str(program)


def names_of(site: TinySite) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in site.study.report_dir.glob("*.html")}


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'ERROR: it does not work' >&2; exit 1", "it does not work"),
        ("exit 3", "it said nothing"),
        ("sleep 60", "said nothing for"),
        ("mkdir -p _site; for p in *.ipynb; do echo quarto > _site/${p%.ipynb}.html; done", "no whole page"),
        (
            "mkdir -p _site; for p in *.ipynb; do cat $p > _site/${p%.ipynb}.html; echo '</html>' >> "
            "_site/${p%.ipynb}.html; done",
            "labelled parts",
        ),
        ("echo all well", "was not made"),
    ],
)
def test_failing_quarto_leaves_good_pages_alone(
    copied: TinySite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    """The bundled renderer stands in, with one line that says so; asked for alone, Quarto's failure is an error."""
    before = names_of(copied)
    monkeypatch.setenv("DSQA_QUARTO", stand_in(tmp_path / "bin", script))
    monkeypatch.setenv("DSQA_QUARTO_SILENCE", "1")
    start = time.monotonic()
    with pytest.raises(QuartoError, match=said):
        copied.build(renderer="quarto", formats=("html",))
    assert time.monotonic() - start < 20
    assert names_of(copied) == before
    result, lines = copied.build(formats=("html",))
    assert not result.failed
    assert names_of(copied) == before
    assert sum("bundled pandoc instead" in line and said in line for line in lines) == 1


@pytest.mark.parametrize(
    ("version", "used", "word"), [("1.5.57", False, "1.6"), ("1.6.0", True, ""), ("1.10.18", True, ""),
                                  ("1.11.2", True, "newer"), ("99.9.9", True, "newer"), ("zsh: oh", False, "works")],
)  # fmt: skip
def test_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, used: bool, word: str) -> None:
    monkeypatch.setenv("DSQA_QUARTO", stand_in(tmp_path, "", f"'{version}'"))
    said: list[str] = []
    found = quarto_for("auto", said.append)
    assert (found is not None) is used
    assert [word in line for line in said] == ([True] if word else [])
    assert quarto_for("pandoc", said.append) is None
    if not used:
        with pytest.raises(ReportError, match=word):
            quarto_for("quarto", said.append)


def test_no_quarto_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DSQA_QUARTO", raising=False)
    with pytest.raises(ReportError, match="no Quarto"):
        quarto_for("quarto", lambda _line: None)
    assert quarto_for("auto", lambda _line: None) is None


def test_renderer_is_obeyed_for_one_notebook(tiny: TinySite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSQA_QUARTO", stand_in(tmp_path / "bin", "echo 'ERROR: never' >&2; exit 1"))
    notebook = str(shutil.copyfile(tiny.notebooks / "beta.ipynb", tmp_path / "own.ipynb"))
    said: list[str] = []
    [path] = render_report(tiny.study, notebook=notebook, renderer="pandoc", progress=said.append)
    assert not any("Quarto" in line for line in said)
    good = path.read_bytes()
    with pytest.raises(QuartoError, match="never"):
        render_report(tiny.study, notebook=notebook, renderer="quarto")
    assert path.read_bytes() == good
    for left in ("own.html", "own.ipynb"):
        (tiny.study.report_dir / left).unlink()


def test_notebooks_are_written_as_lines(tiny: TinySite) -> None:
    """Quarto drops the newlines of a source that is one string."""
    written = [*tiny.study.report_dir.glob("*.ipynb"), *(tiny.study.root.parents[1] / "project").glob("*.ipynb")]
    assert len(written) > len(NAMES)
    for path in written:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert isinstance(cell["source"], list), path
            assert all(line.endswith("\n") for line in cell["source"][:-1])
            assert not any("\n" in line[:-1] for line in cell["source"])


def test_notebook_text_keeps_every_character() -> None:
    source = "a\n\n b \u2028 c\x0c d\r\ne \ud800 \x1c\n"
    notebook = new_notebook(cells=[new_markdown_cell("x")])
    notebook.cells[0].source = source
    read = json.loads(notebook_text(notebook))
    assert "".join(read["cells"][0]["source"]) == source
    assert notebook.cells[0].source == source


def test_what_is_whole(tmp_path: Path) -> None:
    notebook = nbformat.from_dict(  # type: ignore[no-untyped-call]
        {"cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "## A {#sec-a}\n"}]}
    )
    page, pdf, word = (tmp_path / f"x.{ending}" for ending in ("html", "pdf", "docx"))
    assert [bool(what_is_wrong(path, notebook)) for path in (page, pdf, word)] == [True] * 3
    for text, good in (
        ('<p id="sec-a"></html>\n', True),
        ('<p id="sec-b"></html>', False),
        ('<p id="sec-a">', False),
    ):
        page.write_text(text)
        assert (what_is_wrong(page, notebook) == "") is good
    for content, good in ((b"%PDF-1.7\n%%EOF\n", True), (b"%PDF-1.7\n", False), (b"quarto", False)):
        pdf.write_bytes(content)
        assert (what_is_wrong(pdf, notebook) == "") is good
    word.write_bytes(b"PK not really")
    assert "no Word document" in what_is_wrong(word, notebook)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="processes are ended by groups on POSIX systems")
def test_hanging_quarto_is_ended_with_what_it_started(
    tiny: TinySite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "left"
    script = f"(sleep 4; touch {left}) & sleep 60"
    monkeypatch.setenv("DSQA_QUARTO", stand_in(tmp_path / "bin", script))
    monkeypatch.setenv("DSQA_QUARTO_SILENCE", "0.5")
    with pytest.raises(QuartoError, match="said nothing"):
        tiny.build(renderer="quarto")
    time.sleep(4.5)
    assert not left.exists()
