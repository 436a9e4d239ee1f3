"""Reports by a real Quarto, where one is on the PATH or ``DSQA_QUARTO`` names one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import nbformat
import pytest

from dsqa.report.quarto import Quarto, run_quarto
from dsqa.study import StudyFolder
from tests.report.html import Document
from tests.report.tiny_site import LINE, NAMES, TinySite

PAGES = ("index.html", *(f"{name}.html" for name in NAMES))


@pytest.fixture(scope="module")
def program(real_quarto: str | None) -> str:
    if real_quarto is None:
        pytest.skip("no Quarto on the PATH (DSQA_QUARTO can name one); test_quarto.py checks what it would be given")
    return real_quarto


@pytest.fixture(scope="module")
def site(program: str, tiny: TinySite, tmp_path_factory: pytest.TempPathFactory) -> TinySite:
    """The small site with all its documents, by Quarto, from notebooks that were executed before."""
    root = tmp_path_factory.mktemp("by quarto")
    shutil.copytree(tiny.study.root, root / "study")
    shutil.copytree(tiny.notebooks, root / "notebooks")
    made = TinySite(StudyFolder(root / "study"), root / "notebooks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSQA_QUARTO", program)
        result, said = made.build(renderer="quarto", formats=("html", "pdf", "docx"))
    assert not result.failed
    assert result.warnings == (), said
    return made


def test_pages_are_whole_and_fetch_nothing(site: TinySite) -> None:
    for name in PAGES:
        page = Document(site.study.report_dir / name)
        assert LINE in page.text
        text = (site.study.report_dir / name).read_text(encoding="utf-8")
        assert ":::" not in page.text
        assert "#|" not in page.text
        for tag, attribute in (("link", "href"), ("script", "src"), ("img", "src")):
            for values in page.all(tag):
                target = values.get(attribute) or ""
                assert not re.match(r"(https?:)?//", target), (name, target)
                if target and not target.startswith("data:"):
                    assert (site.study.report_dir / target.partition("?")[0]).exists(), (name, target)
        assert "fonts.googleapis" not in text
    for style in site.study.report_dir.rglob("*.css"):
        assert not re.search(r"@import[^;]*//|url\(['\"]?(?:https?:)?//", style.read_text(encoding="utf-8")), style


def test_tables_keep_scope_and_labels(site: TinySite) -> None:
    page = Document(site.study.report_dir / "alpha.html")
    cells = [*page.all("td"), *page.all("th")]
    assert any(values.get("data-label") == "b" for values in cells)
    assert {values.get("scope") for values in page.all("th")} >= {"col", "row"}
    assert "Table 1. " in page.text.replace("\xa0", " ")
    assert "Table 1.." not in page.text.replace("\xa0", " ")


def test_search_has_its_index(site: TinySite) -> None:
    folder = site.study.report_dir
    text = (folder / "search-index.js").read_text(encoding="utf-8")
    rows = json.loads(text.partition("=")[2].rstrip().rstrip(";"))
    assert {row["href"].partition("#")[0] for row in rows} == set(PAGES)
    assert any("zebras" in row["text"] and row["href"].startswith("overview.html#q-q01") for row in rows)
    assert any("μῆνις" in row["text"] for row in rows)
    assert (folder / "search.js").is_file()
    assert 'id="search"' in (folder / "overview.html").read_text(encoding="utf-8")


def test_documents_are_single_files(site: TinySite) -> None:
    folder = site.study.report_dir
    article = Document(folder / "article.html")
    assert not [values for values in article.all("script") if values.get("src")]
    assert not [values for values in article.all("a") if re.search(r"(?<!article)\.html", values.get("href") or "")]
    assert not [values for _, values in article.tags if "sidebar" in values.get("id", "") + values.get("class", "")]
    assert (folder / "article.html").stat().st_size < 200_000
    with zipfile.ZipFile(folder / "article.docx") as archive:
        assert {Path(name).suffix for name in archive.namelist() if "/media/" in name} == {".png"}
        text = archive.read("word/document.xml").decode()
        assert 'descr="A dot."' in text
        assert "Table" in text
        assert ".." not in re.sub(r"<[^>]+>", "", text)
        assert 'w:jc w:val="center"/></w:pPr><w:r><w:t xml:space="preserve">x' not in text
    assert (folder / "article.pdf").read_bytes().startswith(b"%PDF")


def test_what_is_up_to_date_and_what_is_not(
    program: str, site: TinySite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(site.study.root, tmp_path / "study")
    again = TinySite(StudyFolder(tmp_path / "study"), site.notebooks)
    folder = again.study.report_dir
    monkeypatch.setenv("DSQA_QUARTO", program)
    assert again.build(renderer="quarto", formats=("html", "pdf", "docx"))[1] == []
    shutil.rmtree(folder / "site_libs")
    _, said = again.build(renderer="quarto")
    assert any("Rendering the site" in line for line in said)
    assert (folder / "site_libs").is_dir()
    assert not list(folder.glob("article.*"))
    result, _ = again.build(renderer="pandoc")
    assert not result.failed
    left = {path.name for path in folder.iterdir()}
    assert not left & {"site_libs", "search.json", "figures", "theme"}
    assert "Content-Security-Policy" in (folder / "index.html").read_text(encoding="utf-8")


def test_project_is_rendered_without_dsqa(program: str, tiny: TinySite, tmp_path: Path) -> None:
    project = tmp_path / "my project"
    shutil.copytree(tiny.study.root.parents[1] / "project", project)
    path = project / "alpha.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("Numbers of alpha", "Edited numbers"), encoding="utf-8")
    before = {path.name: path.read_bytes() for path in project.glob("*.ipynb")}
    assert run_quarto(Quarto(program, "1"), ["render", str(project)], project) == []
    assert {path.name: path.read_bytes() for path in project.glob("*.ipynb")} == before
    made = {path.name for path in (project / "_site").iterdir()}
    assert made >= {*PAGES, "article.html", "article.pdf", "article.docx", "search-index.js", "search.js"}
    assert "Edited numbers" in Document(project / "_site" / "alpha.html").text


def test_a_notebook_is_executed_by_quarto(program: str, site: TinySite, tmp_path: Path) -> None:
    """On a copy, as the documentation says: Quarto writes the outputs into the notebook that it executes."""
    copy = tmp_path / "beta.ipynb"
    shutil.copyfile(site.notebooks / "beta.ipynb", copy)
    notebook = nbformat.read(copy, 4)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, copy)
    command = [program, "render", copy.name, "--to", "html", "--execute", "-P", "fails:true"]
    failed = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"}
    )
    assert failed.returncode
    assert "no numbers today" in failed.stderr + failed.stdout
