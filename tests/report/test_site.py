"""The site and the article: what is made, what is made again, what happens when something fails."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import yaml

from dsqa.cli.app import main
from dsqa.report.pandoc import pandoc_path
from dsqa.report.site import executing
from dsqa.report.site.state import State
from dsqa.report.site.texts import retarget, sections, shift_headings
from dsqa.study import StudyFolder
from tests.report.html import Document
from tests.report.tiny_site import LINE, NAMES, TinySite

PAGES = ("index.html", *(f"{name}.html" for name in NAMES))


def read(site: TinySite, name: str) -> Document:
    return Document(site.study.report_dir / name)


def bytes_of(site: TinySite) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(site.study.report_dir.iterdir()) if p.is_file()}


def test_every_page_has_the_study_and_leads_to_the_others(tiny: TinySite) -> None:
    for name in PAGES:
        document = read(tiny, name)
        assert LINE in document.text
        hrefs = [values["href"] for values in document.all("a")]
        assert {*PAGES} <= set(hrefs)
        current = [values["href"] for values in document.all("a") if values.get("aria-current") == "page"]
        assert current == [name]
    assert "All is well" in read(tiny, "index.html").text


def test_links_between_pages_lead_somewhere(tiny: TinySite) -> None:
    ids = {name: {v["id"] for _, v in read(tiny, name).tags if "id" in v} for name in PAGES}
    for name in PAGES:
        for values in read(tiny, name).all("a"):
            page, _, part = values["href"].partition("#")
            if not page.startswith("http"):
                assert (page or name) in ids
                assert not part or part in ids[page or name], (name, values["href"])
    hrefs = [values["href"] for values in read(tiny, "alpha.html").all("a")]
    assert "overview.html#q-q01" in hrefs
    assert "overview.html#tbl-all" in [values["href"] for values in read(tiny, "index.html").all("a")]


def test_article_joins_the_notebooks(tiny: TinySite) -> None:
    document = read(tiny, "article.html")
    levels = [level for level, _ in document.headings]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    titles = [text for level, text in document.headings if level == 2]
    assert titles == ["The answer", "All questions", "First things", "Second things", "Methods", "References"]
    assert (3, "Shapes") in document.headings
    ids = [values["id"] for _, values in document.tags if "id" in values]
    assert len(ids) == len(set(ids))
    assert {"tbl-numbers", "tbl-beta-numbers"} <= set(ids)
    assert {v["href"][1:] for v in document.all("a") if v["href"].startswith("#")} <= set(ids)
    # What the article leaves out is not linked to, and code is as it was.
    assert "elsewhere" in document.text
    assert "A card about zebras" not in document.text
    assert "## not a heading [x](#y)" in document.text
    assert "\n## nor this" in document.text
    assert document.text.count("Ni, Wenqi") == 1


def test_article_is_one_file_in_every_format(tiny: TinySite) -> None:
    loads = [
        v.get("src") or v.get("href", "") for tag, v in read(tiny, "article.html").tags if tag in {"img", "link"}
    ]
    assert loads
    assert all(value.startswith("data:") for value in loads)
    assert not [v for v in read(tiny, "article.html").all("script") if "src" in v]
    files = bytes_of(tiny)
    assert files["article.pdf"].startswith(b"%PDF-1.")
    assert files["overview.pdf"].startswith(b"%PDF-1.")
    with zipfile.ZipFile(tiny.study.report_dir / "article.docx") as archive:
        text = archive.read("word/document.xml").decode()
    assert "Numbers of beta." in text
    assert "Numbers of alpha." in text


def test_made_again_elsewhere_gives_the_same_bytes(tiny: TinySite, tmp_path: Path) -> None:
    root = tmp_path / "elsewhere"
    shutil.copytree(tiny.study.root, root, ignore=shutil.ignore_patterns("report", "figures"))
    again = TinySite(StudyFolder(root), tiny.notebooks)
    again.build(formats=("html",))
    before, after = bytes_of(tiny), bytes_of(again)
    for name in (*PAGES, "article.html", "search-index.js"):
        assert after[name] == before[name], name


def test_nothing_is_made_twice(copied: TinySite) -> None:
    before = bytes_of(copied)
    result, said = copied.build(formats=("html", "pdf", "docx"))
    assert said == []
    assert set(NAMES) | {*PAGES, "article.pdf"} <= set(result.up_to_date)
    assert bytes_of(copied) == before


def test_changed_text_makes_one_page_again(copied: TinySite) -> None:
    path = copied.notebooks / "alpha.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("is round", "is quite round"), encoding="utf-8")
    before = bytes_of(copied)
    _, said = copied.build()
    assert said == ["Executing 1 of 3 notebooks, 1 at a time", "Executed alpha", "Rendered alpha.html"]
    assert "is quite round" in read(copied, "alpha.html").text
    after = bytes_of(copied)
    changed = {name for name in before if after.get(name) != before[name]}
    # The article is of the old text: gone, since it was not asked for again.
    assert changed == {
        ".made.json", "alpha.html", "alpha.ipynb", "search-index.js",
        "article.html", "article.pdf", "article.docx", "overview.pdf", "overview.docx",
    }  # fmt: skip


def test_changed_theme_executes_nothing(copied: TinySite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsqa.report.site.rendering.theme_hash", lambda: "another")
    _, said = copied.build()
    assert sorted(said) == sorted(f"Rendered {name}" for name in PAGES)


def _edit(path: str) -> Callable[[TinySite], None]:
    def change(site: TinySite) -> None:
        file = site.study.root / path
        file.write_bytes(file.read_bytes().replace(b"a", b"e", 1) if file.is_file() else b"{}")

    return change


def _mark_anew(site: TinySite) -> None:
    table = pd.read_parquet(site.study.outcomes_path)
    table.loc[0, "score"] = 0.5
    table.to_parquet(site.study.outcomes_path)


@pytest.mark.parametrize(
    "change",
    [
        _mark_anew,
        _edit("study.json"),
        _edit("bank/questions.jsonl"),
        _edit("bank/data/penguins.csv"),
        _edit("records.jsonl"),
        _edit("prices.yaml"),
        _edit("import.json"),
        _edit("report/alpha.ipynb"),
        lambda site: (site.study.figures_dir / "dot.svg").unlink(),
        lambda site: (site.study.figures_dir / "dot.svg").write_text("<svg/>"),
    ],
    ids=["outcomes", "design", "bank", "data", "records", "prices", "import", "own", "picture gone", "picture"],
)
def test_whatever_a_notebook_reads_makes_it_anew(
    copied: TinySite, change: Callable[[TinySite], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    copied.use(monkeypatch)
    state = State(copied.study, NAMES, {}, print, 1)
    assert executing.is_executed(state, "alpha")
    change(copied)
    monkeypatch.setattr("dsqa.report.site.state.study_line", lambda *_: "")
    monkeypatch.setattr(StudyFolder, "describe", lambda _: state.description)
    assert not executing.is_executed(State(copied.study, NAMES, {}, print, 1), "alpha")


def test_parameters_code_and_other_studies_make_it_anew(
    copied: TinySite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied.use(monkeypatch)

    def current(**parameters: object) -> bool:
        return executing.is_executed(State(copied.study, NAMES, parameters, print, 1), "alpha")

    assert current()
    assert not current(x=2)
    # A parameter that names a file or an earlier study stands for what is in it.
    earlier = tmp_path / "earlier.csv"
    earlier.write_text("a")
    first = executing._key(State(copied.study, NAMES, {"x": str(earlier)}, print, 1), "alpha")
    earlier.write_text("b")
    assert executing._key(State(copied.study, NAMES, {"x": str(earlier)}, print, 1), "alpha") != first
    monkeypatch.setattr("dsqa.report.site.executing.code_hash", lambda: "another")
    assert not current()


def test_spoilt_list_of_what_was_made_counts_as_none(copied: TinySite, monkeypatch: pytest.MonkeyPatch) -> None:
    copied.use(monkeypatch)
    (copied.study.report_dir / ".made.json").write_text('{"alpha.ipynb": ')
    assert not executing.is_executed(State(copied.study, NAMES, {}, print, 1), "alpha")


def test_one_page_fails_and_the_others_are_there(
    copied: TinySite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copied.use(monkeypatch)
    monkeypatch.setattr(sys, "argv", ["dsqa", "report", str(copied.study.root), "-p", "fails", "true"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert "Executed alpha" not in printed.err
    last = printed.err.strip().splitlines()[-1]
    assert last.startswith("dsqa: beta could not be made, the rest of the report is there: ")
    for part in ("beta.ipynb: cell 4 of 5 (if fails:) failed: ValueError: no numbers today", "then render again"):
        assert part in last
        assert part in read(copied, "beta.html").text
    assert str(copied.study.root) not in read(copied, "beta.html").text
    assert "Second things (failed)" in " ".join(read(copied, "alpha.html").text.split())
    # Mended, it is made; the failure was not kept.
    result, said = copied.build()
    assert not result.failed
    assert "Executed beta" in said
    assert "Executed alpha" not in said


def test_one_part_fails_and_the_rest_of_its_page_is_there(copied: TinySite) -> None:
    for again in (False, True):  # what is up to date still says so
        result, said = copied.build(parameters={"partly": True})
        assert not result.failed
        [missing] = result.incomplete["beta"]
        assert missing == "cell 5 of 5 (if partly:): OverflowError: math range error"
        assert ("Executed beta" in said) is not again
    text = " ".join(read(copied, "beta.html").text.split())
    assert "This part could not be made (OverflowError: math range error)" in text
    assert "Numbers of beta." in text
    assert not copied.build()[0].incomplete


def test_overview_alone_leaves_no_outdated_page(copied: TinySite) -> None:
    copied.build(notebooks=("overview",))
    assert set(PAGES) <= set(bytes_of(copied))
    _mark_anew(copied)
    copied.build(notebooks=("overview",))
    names = set(bytes_of(copied))
    assert {"overview.html", "index.html"} <= names
    assert not names & {"alpha.html", "beta.html", "article.html", "alpha.ipynb"}
    assert "alpha.html" not in (copied.study.report_dir / "index.html").read_text(encoding="utf-8")


def test_quarto_project_is_whole(tiny: TinySite) -> None:
    """Quarto cannot be installed everywhere: what it is given, as far as that can be told without it."""
    project = tiny.study.root.parents[1] / "project"
    settings = yaml.safe_load((project / "_quarto.yml").read_text(encoding="utf-8"))
    assert settings["project"]["type"] == "website"
    listed = settings["project"]["render"]
    assert listed == ["index.ipynb", *(f"{name}.ipynb" for name in NAMES), "article.ipynb"]
    contents = settings["website"]["sidebar"]["contents"]
    assert [entry if isinstance(entry, str) else entry["href"] for entry in contents] == listed
    assert contents[0] == {"text": "Start", "href": "index.ipynb"}
    assert settings["website"]["search"] is False
    assert settings["tbl-colwidths"] is True
    html = settings["format"]["html"]
    assert set(html["theme"]) == {"light", "dark"}
    filters = [part if isinstance(part, str) else part["path"] for part in settings["filters"]]
    scripts = [*settings["project"]["resources"], *settings["project"]["post-render"]]
    parts = [html["include-in-header"], html["include-before-body"], *html["css"], *html["theme"].values()]
    for name in [*listed, settings["bibliography"], *filters, *scripts, *parts]:
        assert (project / name).is_file(), name
    # No web font, and nothing else that is fetched.
    for name in [*html["css"], *html["theme"].values(), "theme/site-head.html"]:
        assert not re.search(r"//(?!\s)[\w.-]+\.[a-z]", (project / name).read_text(encoding="utf-8")), name
    for name in html["theme"].values():
        assert "$web-font-path: false" in (project / name).read_text(encoding="utf-8")
    assert not list(project.glob("**/.*"))
    assert (project / "data" / "outcomes.parquet").is_file()
    assert (project / "figures" / "dot.png").is_file()
    for name in listed:
        notebook = nbformat.read(project / name, 4)
        front = yaml.safe_load(notebook.cells[0].source.strip("-\n"))
        assert front["subtitle"] == LINE
        text = json.dumps([c.get("outputs", c.source) for c in notebook.cells])
        for picture in re.findall(r"!\[\]\(([^)]+)\)", text):
            assert (project / picture).is_file(), picture
        for page in re.findall(r"\]\(([\w.-]+\.ipynb)", text):
            assert page in listed
    article = yaml.safe_load(nbformat.read(project / "article.ipynb", 4).cells[0].source.strip("-\n"))
    assert set(article["format"]) == {"html", "typst", "docx"}
    assert all((project / name).is_file() for name in article["format"]["typst"]["template-partials"])
    for name in listed:
        command = [pandoc_path(), "--from=ipynb", "--to=plain", name]
        read_by = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        assert read_by.returncode == 0, read_by.stderr


def test_headings_in_code_are_no_headings() -> None:
    text = "# a\n```\n# b\n```\n~~~~\n```\n# c\n~~~\n~~~~\n## d\n#e"
    assert shift_headings(text) == "## a\n```\n# b\n```\n~~~~\n```\n# c\n~~~\n~~~~\n### d\n#e"


def test_links_in_code_are_left_alone() -> None:
    text = "[a](#x) `[b](#x)` [c *d*](#here) @tbl-x me@tbl-x [\\[e\\]](#gone)"
    assert retarget(text, {"here"}, {"x": "p.html", "tbl-x": "p.html"}) == (
        "[a](p.html#x) `[b](#x)` [c *d*](#here) [the table](p.html#tbl-x) me@tbl-x \\[e\\]"
    )


def test_sections_are_cut_within_a_cell() -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("intro\n\n## One {#sec-one}\n\ntext\n\n## Two\n\n```\n## no\n```")]
    )
    assert [(part.id, part.title) for part in sections(notebook)] == [(None, ""), ("sec-one", "One"), (None, "Two")]
