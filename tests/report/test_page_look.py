"""The page itself: sorting, light and dark, search, phone, in a real browser; one document for all."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from dsqa.report.locate import shipped
from dsqa.report.markdown import Markdown, figure
from dsqa.report.pandoc import render_with_pandoc
from dsqa.report.tables import Field, Note, data_table
from tests.report.browser import PROGRAM, visit
from tests.report.html import Document

ROWS = pd.DataFrame(
    {
        "level": ["easy"] * 4 + ["hard"] * 2,
        "model": ["b", "a", "d", "c", "x", "w"],
        "accuracy": [0.52, 0.9, None, 0.07, 0.3, 0.2],
        "low": [0.42, 0.8, None, 0.03, 0.2, 0.1],
        "high": [0.62, 0.95, None, 0.15, 0.4, 0.3],
        "p": [0.0004, 0.2, 0.03, 0.5, 0.01, 0.02],
        "tokens": [1200, 90, 1e6, 300, 5, 4],
        "effect": [-0.5, 0.25, 1.5e-9, -2.0, 1.0, 2.0],
        "se": [0.1, 0.1, 1e-10, 0.1, 0.1, 0.1],
    }
)
INDEX = [
    {
        "href": "page.html#sec-a",
        "page": "Page",
        "section": "Temperature",
        "text": "words before " * 30 + "the Café ends",
    },
    {"href": "other.html", "page": "Café", "section": "", "text": "<b>not bold</b> instability"},
    *({"href": f"x{i}.html", "page": f"X{i}", "section": "", "text": "filler"} for i in range(30)),
]


def shows(markdown: str, source: str = "show()") -> nbformat.NotebookNode:
    return new_code_cell(source, outputs=[new_output("display_data", data={"text/markdown": str(markdown)})])


def groups() -> Markdown:
    columns = [
        Field("model", "Model"),
        Field("accuracy", "Accuracy", "percent", low="low", high="high", spanner="Right", note="Share of runs."),
        Field("p", "$p$", "p", spanner="Right"),
        Field("tokens", "Tokens", "count"),
        Field("effect", "Effect", se="se"),
    ]
    notes = [Note("Cut short.", 0, "tokens"), "Simulated."]
    return data_table(ROWS, columns, label="tbl-g", caption="Models.", group="level", notes=notes, missing="no run")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "report"
    folder.mkdir()
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="300"><circle r="9"/></svg>'
    (folder / "dot.svg").write_text(svg, encoding="utf-8")
    dot = figure("dot.svg", label="fig-a", caption="A dot", alt="A dot")
    wide = data_table(pd.DataFrame({f"a column with a long name {i}": [1.0, 2.0] for i in range(12)}), label="tbl-w")
    cells = [
        new_raw_cell("---\ntitle: A page\n---"),
        new_markdown_cell("## First {#sec-a}\n\nSee [@fig-a; @tbl-g], -@tbl-g and [Panel @fig-a]. As @sec-a says."),
        shows(dot),
        shows(groups()),
        shows(wide),
        new_markdown_cell("$$ " + " + ".join(f"x_{{{i}}}^2" for i in range(40)) + " = 1 $$ {#eq-long}"),
    ]
    nbformat.write(new_notebook(cells=cells), folder / "page.ipynb")
    metadata = {
        "subtitle": "Study",
        "site": True,
        "search": True,
        "nav": [{"href": "page.html", "title": "A page", "current": True}]
        + [{"href": f"p{i}.html", "title": f"Page number {i}", "failed": i == 2} for i in range(8)],
        "prev": {"href": "p0.html", "title": "Before"},
        "next": {"href": "p1.html", "title": "After"},
    }
    render_with_pandoc(folder / "page.ipynb", folder / "page.html", metadata)
    (folder / "search-index.js").write_text(f"window.dsqaSearch = {json.dumps(INDEX)};", encoding="utf-8")
    shutil.copyfile(shipped("reports") / "theme" / "search.js", folder / "search.js")
    return folder


@pytest.fixture(scope="module")
def document(folder: Path) -> Document:
    return Document(folder / "page.html")


# In frames, since no window can be made as narrow as a phone.
SCRIPT = """
  const pages = {};
  for (const frame of document.querySelectorAll('iframe')) pages[frame.name] = frame.contentWindow;
  const page = pages.desk.document, table = page.querySelector('#tbl-g table'), seen = {};
  const names = () => [...table.tBodies].map(b => [...b.rows].map(r => r.cells[0].textContent));
  const buttons = [...table.querySelectorAll('thead tr:last-child button.sort')];
  const states = () => [...table.querySelectorAll('thead tr:last-child th')].map(t => t.getAttribute('aria-sort'));
  seen.buttons = buttons.length;
  seen.before = names();
  seen.orders = {};
  buttons.forEach((button, i) => {
    seen.orders[i] = [];
    for (const press of [1, 2, 3]) { button.click(); seen.orders[i].push([states()[i], names()]); }
  });
  buttons[3].click(); buttons[2].click();
  seen.states = states();
  seen.said = page.querySelector('body > p[role=status]').textContent;
  buttons[1].focus();
  seen.focus = page.activeElement === buttons[1];

  const theme = page.getElementById('theme-switch'), root = page.documentElement;
  const paper = () => pages.desk.getComputedStyle(page.body).backgroundColor;
  seen.theme = [theme.hidden, theme.getAttribute('aria-pressed'), paper()];
  theme.click();
  const kept = pages.desk.localStorage['dsqa-theme'];
  seen.dark = [root.dataset.theme, theme.getAttribute('aria-pressed'), paper(), kept];
  theme.click();
  seen.light = [root.dataset.theme, paper()];

  const field = page.getElementById('search-field'), list = page.querySelector('ul.hits');
  const type = text => { field.value = text; field.dispatchEvent(new pages.desk.Event('input')); };
  const event = key => new pages.desk.KeyboardEvent('keydown', { key, bubbles: true });
  const press = (target, key) => target.dispatchEvent(event(key));
  const hits = () => [...list.querySelectorAll('a')].map(a => [a.textContent, a.getAttribute('href')]);
  type('CAFE');
  seen.cafe = [hits(), [...list.querySelectorAll('mark')].map(m => m.textContent), list.hidden];
  field.focus(); press(field, 'ArrowDown');
  seen.down = page.activeElement.textContent;
  press(page.activeElement, 'Escape');
  seen.escaped = [field.value, list.hidden, page.activeElement === field];
  type('instability');
  seen.bold = [list.querySelectorAll('b').length, list.querySelector('.excerpt').textContent];
  type('filler'); seen.filler = [hits().length, list.lastChild.textContent];
  type('cafe filler'); seen.nothing = list.textContent;
  field.blur(); press(page.body, '/');
  seen.slash = page.activeElement === field;

  const phone = pages.phone.document, bare = pages.bare.document;
  seen.width = [pages.phone.innerWidth, phone.documentElement.scrollWidth];
  seen.whole = bare.querySelectorAll('#tbl-g tbody tr').length;
  seen.bare = [bare.querySelectorAll('button.sort').length, bare.getElementById('theme-switch').hidden];
  return seen;
"""


@pytest.fixture(scope="module")
def seen(folder: Path) -> Any:
    text = (folder / "page.html").read_text(encoding="utf-8")
    bare = re.sub(r"<script\b.*?</script>", "", text, flags=re.DOTALL)
    if PROGRAM is None:
        pytest.skip("no Chromium on this machine to open pages in")
    frames = [
        f'<iframe name="{name}" style="width: {width}px; height: 900px" srcdoc="{html.escape(page)}"></iframe>'
        for name, page, width in (("desk", text, 1200), ("phone", text, 360), ("bare", bare, 1200))
    ]
    driver = folder / "driver.html"
    driver.write_text(f"<!doctype html><body>{''.join(frames)}", encoding="utf-8")
    _, [seen] = visit([driver.as_uri()], folder / "browser", f"(function () {{{SCRIPT}}})()")
    return seen


def test_numbers_sort_as_numbers_within_their_group_and_missing_ones_come_last(seen: Any) -> None:
    assert seen["buttons"] == 5
    groups = [["easy", "b", "a", "d", "c"], ["hard", "x", "w"]]
    assert seen["before"] == groups
    up, down, back = seen["orders"]["1"]
    assert up == ["ascending", [["easy", "c", "b", "a", "d"], ["hard", "w", "x"]]]
    assert down == ["descending", [["easy", "a", "b", "c", "d"], ["hard", "x", "w"]]]
    assert back == [None, groups]
    assert seen["orders"]["0"][0][1] == [["easy", "a", "b", "c", "d"], ["hard", "w", "x"]]


@pytest.mark.parametrize(
    ("column", "order"),
    [
        pytest.param(2, "bdac", id="below 0.001 is smallest"),
        pytest.param(3, "acbd", id="thousands, with a footnote's mark"),
        pytest.param(4, "cbda", id="true minus and powers of ten"),
    ],
)
def test_what_numbers_look_like_does_not_matter(seen: Any, column: int, order: str) -> None:
    assert seen["orders"][str(column)][0][1][0] == ["easy", *order]


def test_sorting_is_said_to_those_who_cannot_see_it_and_done_by_keyboard(seen: Any) -> None:
    assert seen["states"] == [None, None, "ascending", None, None]
    assert seen["said"] == "Table sorted by p, ascending"
    assert seen["focus"] is True


def test_theme_switch_changes_colours_and_is_remembered(seen: Any) -> None:
    hidden, pressed, paper = seen["theme"]
    assert (hidden, pressed, paper) == (False, "false", "rgb(252, 252, 251)")
    assert seen["dark"] == ["dark", "true", "rgb(21, 24, 28)", "dark"]
    assert seen["light"] == ["light", "rgb(252, 252, 251)"]


def test_search_finds_without_accents_titles_first_and_marks_hits(seen: Any) -> None:
    hits, marks, hidden = seen["cafe"]
    assert hits == [["Café", "other.html"], ["Temperature", "page.html#sec-a"]]
    assert marks == ["Café"]
    assert hidden is False
    assert seen["down"] == "Café"
    assert seen["escaped"] == ["", True, True]
    assert seen["slash"] is True


def test_search_shows_text_as_text_and_says_what_it_left_out(seen: Any) -> None:
    assert seen["bold"] == [0, "<b>not bold</b> instability"]
    assert seen["filler"] == [20, "10 more; add a word"]
    assert seen["nothing"] == "Nothing found"


def test_nothing_sticks_out_on_a_phone(seen: Any) -> None:
    window, page = seen["width"]
    assert window == 360
    assert page <= 360


def test_without_scripts_the_page_is_whole(seen: Any) -> None:
    assert seen["whole"] == 8
    assert seen["bare"] == [0, True]


def test_only_the_shipped_script_may_run(document: Document, folder: Path) -> None:
    [policy] = [v["content"] for v in document.all("meta") if v.get("http-equiv") == "Content-Security-Policy"]
    script = (shipped("reports") / "theme" / "dsqa.js").read_text(encoding="utf-8").removesuffix("\n")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}' file: 'self'" in policy
    assert f"<script>{script}</script>" in (folder / "page.html").read_text(encoding="utf-8")
    assert [v.get("src") for v in document.all("script")] == [None, "search-index.js", "search.js"]
    # Both are read as parts of a template, where a dollar sign would begin a variable.
    for name in ("dsqa.js", "page.css"):
        assert "$" not in (shipped("reports") / "theme" / name).read_text(encoding="utf-8")


def test_references_with_several_without_and_with_other_words(document: Document) -> None:
    assert "See Figure 1, Table 1, 1 and Panel 1. As “First” says." in document.text.replace("\xa0", " ")


def test_table_has_spanners_groups_scopes_and_notes(document: Document) -> None:
    heads = [v for v in document.all("th") if "scope" in v]
    assert [v["scope"] for v in heads[:6]] == ["colgroup", "col", "col", "col", "col", "col"]
    assert heads[0]["colspan"] == "2"
    assert [v["scope"] for v in heads if v.get("class") == "group"] == ["rowgroup", "rowgroup"]
    assert sum(v["scope"] == "row" for v in heads) == 8
    rows = document.tables["tbl-g"]
    assert rows[0] == ["", "Right", "", ""]
    assert rows[2] == ["easy"]
    assert [cell.replace("\xa0", " ").rstrip("\u2007\u2008") for cell in rows[3]] == [
        "b", "52.0 % [42.0, 62.0] %", "< 0.001", "1,200b", "−0.50",
    ]  # fmt: skip
    text = document.text.replace("\xa0", " ")
    assert "a Share of runs." in text
    assert "b Cut short." in text
    assert "c no run" in text
    assert text.index("c no run") < text.index("Simulated.")


def test_landmarks_language_and_ways_around(document: Document) -> None:
    assert document.all("html")[0]["lang"] == "en"
    assert [v.get("aria-label") for v in document.all("nav")] == ["Pages", "Contents", "Previous and next page"]
    assert document.all("a")[0] == {"class": "skip", "href": "#main"}
    assert len(document.all("main")) == 1
    assert [v["href"] for v in document.all("a") if "aria-current" in v] == ["page.html"]
    assert {v["rel"]: v["href"] for v in document.all("a") if "rel" in v} == {"prev": "p0.html", "next": "p1.html"}
    assert "Page number 2 (failed)" in document.text
