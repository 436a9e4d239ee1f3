"""The part of Quarto's language that the Lua filter speaks, through pandoc and Typst."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from dsqa.errors import ReportError
from dsqa.report.pandoc import render_with_pandoc
from tests.report.html import Document


def render(folder: Path, *cells: nbformat.NotebookNode, to: str = "html") -> Path:
    (folder / "report").mkdir()
    notebook = folder / "report" / "n.ipynb"
    nbformat.write(new_notebook(cells=[new_raw_cell("---\ntitle: A title\n---"), *cells]), notebook)
    target = notebook.with_suffix(f".{to}")
    render_with_pandoc(notebook, target, {"subtitle": "Study *x*"})
    return target


def shows(markdown: str, source: str = "show()") -> nbformat.NotebookNode:
    data = {"text/markdown": markdown, "text/plain": "<Markdown>"}
    return new_code_cell(source, outputs=[new_output("display_data", data=data)])


def test_references_are_numbered_by_kind_in_document_order(tmp_path: Path) -> None:
    path = render(
        tmp_path,
        new_markdown_cell("See @tbl-b, @fig-a and @eq-c; [@wilson1927] says."),
        shows('::: {#fig-a}\n\n![](data:image/gif;base64,R0lGODlhAQABAAAAACw=){fig-alt="A dot"}\n\nA caption\n\n:::'),
        shows(
            "::: {#tbl-a}\n\n| x |\n|---|\n| 1 |\n\nFirst\n\n:::\n\n"
            "::: {#tbl-b}\n\n| y |\n|---|\n| 2 |\n\nSecond\n\n:::"
        ),
        new_markdown_cell("$$ a = b $$ {#eq-c}"),
    )
    document = Document(path)
    text = document.text.replace("\xa0", " ")
    assert "See Table 2, Figure 1 and Equation 1;" in text
    assert "Wilson 1927" in text
    assert "Figure 1. A caption" in text
    assert "Table 2. Second" in text
    assert "<Markdown>" not in text
    assert document.all("img")[0]["alt"] == "A dot"
    assert {"#tbl-b", "#fig-a", "#eq-c"} <= {a["href"] for a in document.all("a")}
    assert document.all("math")


def test_title_comes_from_the_notebook_and_subtitle_is_not_markdown(tmp_path: Path) -> None:
    document = Document(render(tmp_path, new_markdown_cell("x")))
    assert document.headings[0] == (1, "A title")
    assert "Study *x*" in document.text


def test_options_of_cells(tmp_path: Path) -> None:
    document = Document(
        render(
            tmp_path,
            shows("seen-1", '#| code-summary: "How <b>"\nfolded_code()'),
            shows("seen-2", "#| echo: false\nhidden_code()"),
            shows("unseen-3", "#| include: false\nx = 3"),
            shows("unseen-4", "#| output: false\nshown_code()"),
            shows("| a |\n|---|\n| 1 |", '#| echo: false\n#| label: tbl-own\n#| tbl-cap: "By **option**"\nx'),
            new_code_cell("warns()", outputs=[new_output("stream", name="stderr", text="a-warning")]),
        )
    )
    assert "How <b>" in document.text
    for seen in ("seen-1", "seen-2", "folded_code()", "shown_code()", "By option"):
        assert seen in document.text
    for unseen in ("unseen-3", "unseen-4", "hidden_code", "x = 3", "#|", "a-warning"):
        assert unseen not in document.text
    assert document.tables["tbl-own"] == [["a"], ["1"]]


def test_callouts_open_and_folded(tmp_path: Path) -> None:
    document = Document(
        render(
            tmp_path,
            new_markdown_cell('::: {.callout-note title="Mind *this*"}\nbody-1\n:::'),
            new_markdown_cell('::: {.callout-tip collapse="true" title="Fold"}\nbody-2\n:::'),
            new_markdown_cell("::: {.callout-warning}\nbody-3\n:::"),
        )
    )
    assert "Mind this" in document.text
    assert "Warning" in document.text
    folded = [values for values in document.all("details") if "callout-tip" in values.get("class", "")]
    assert len(folded) == 1
    assert "open" not in folded[0]


def test_stacked_tables_label_their_cells(tmp_path: Path) -> None:
    document = Document(
        render(tmp_path, shows("::: {#tbl-s .stack}\n\n| q | right |\n|---|---|\n| 1 | 2 |\n\nCap\n\n:::"))
    )
    assert [v.get("data-label") for v in document.all("td")] == ["right"]
    assert len(document.all("th")) == 3


def test_reference_to_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="@fig-gone refers to nothing") as caught:
        render(tmp_path, new_markdown_cell("See @fig-gone."))
    assert "\n" not in str(caught.value)


def test_label_used_twice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="'tbl-a' is used twice"):
        render(tmp_path, *(shows("::: {#tbl-a}\n\n| x |\n|---|\n| 1 |\n\nC\n\n:::") for _ in range(2)))


def test_missing_picture_is_an_error_and_leaves_no_half_report(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"gone\.svg"):
        render(tmp_path, shows('::: {#fig-a}\n\n![](gone.svg){fig-alt="x"}\n\nC\n\n:::'))
    assert [p.name for p in (tmp_path / "report").iterdir()] == ["n.ipynb"]


def test_spans_before_brackets_do_not_upset_typst(tmp_path: Path) -> None:
    path = render(
        tmp_path,
        new_markdown_cell(
            "[stable]{.verdict .right} (so) [low]{.interval}[x]{.note} [1]{.count .zero}. #not-code $5"
        ),
        new_markdown_cell("::: {.card}\n### In a card {#q-1}\n\n[easy]{.level}\n:::\n\nSee [it](#q-1)."),
        shows("::: {.data .stack}\n\n| a | b |\n|---|---|\n| 1 | [x (1/2)]{.share} [y (1/2)]{.share} |\n\n:::"),
        shows("::: {#tbl-n}\n\n| a |\n|---|\n| 1 |\n\nThe only numbered one, @tbl-n.\n\n:::"),
        new_markdown_cell("$$ \\bar\\sigma = 1 $$ {#eq-x}\n\nBy @eq-x."),
        to="pdf",
    )
    data = path.read_bytes()
    assert data.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", data)) == 1


def test_picture_without_an_alternative_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"dot\.svg has no text for those who cannot see it"):
        render(tmp_path, new_markdown_cell("::: {#fig-a}\n\n![](dot.svg)\n\nA caption\n\n:::"))


def test_source_that_is_not_in_the_bibliography_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="@nobody1900 is not in the bibliography"):
        render(tmp_path, new_markdown_cell("So says [@nobody1900]."))


def test_section_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="@sec-gone refers to nothing"):
        render(tmp_path, new_markdown_cell("See @sec-gone."))


def test_a_source_among_references_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="both references and sources"):
        render(tmp_path, new_markdown_cell("$$ a $$ {#eq-a}\n\nSee [@eq-a; @wilson1927]."))


MANY = [
    new_raw_cell("---\nnumber-sections: true\n---"),
    new_markdown_cell("## One {#sec-one}\n\n### Below {#sec-below}\n\n## Two\n\nSee @sec-below and @eq-a, @tbl-a."),
    *(
        new_markdown_cell(f"::: {{.callout-{kind}}}\nBody of {kind}\n:::")
        for kind in ("note", "tip", "important", "warning", "caution")
    ),
    new_markdown_cell('::: {.callout-note collapse="true" title="Folded"}\nInside\n:::'),
    new_markdown_cell("::: {.callout-tip}\n### Heading as title\n\nText\n:::\n\n$$ a = b $$ {#eq-a}"),
    new_code_cell("left_out()"),
    new_code_cell("#| echo: true\nasked_for()"),
    shows(
        "::: {#tbl-a .data}\n\n| m | [S]{.spanner} a | [S]{.spanner} b |\n|---|--:|--:|\n| [G]{.group} | | |\n"
        "| x | 1 | 2 |\n\n::: {.table-notes}\n\n^a^ a note\n\n:::\n\nCaption\n\n:::"
    ),
]


def test_word_has_numbers_callouts_and_tables_in_its_own_styles(tmp_path: Path) -> None:
    with zipfile.ZipFile(render(tmp_path, *MANY, to="docx")) as archive:
        body = archive.read("word/document.xml").decode()
    text = re.sub(r"<[^>]+>", "", body.replace("</w:p>", "\n")).replace("\xa0", " ")
    assert "See Section 1.1 and Equation 1, Table 1." in text
    for kind in ("note", "tip", "important", "warning", "caution"):
        assert f"{kind.title()}\nBody of {kind}" in re.sub(r"\n\s*", "\n", text)
    for seen in ("Folded", "Inside", "Heading as title", "asked_for()", "Table 1. Caption", "a note"):
        assert seen in text
    assert "left_out()" not in text
    styles = set(re.findall(r'w:pStyle w:val="(\w+)"', body))
    assert {"TableHeading", "TableText", "TableNote", "TableCaption", "CalloutNote", "CalloutCautionTitle"} <= styles
    assert "<w:tblHeader" in body
    assert '<w:gridSpan w:val="2"' in body
    assert body.count('<w:jc w:val="right"') >= 2


def test_typst_sets_the_same_on_one_page(tmp_path: Path) -> None:
    path = render(tmp_path, *MANY, to="pdf")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", path.read_bytes())) == 1


def test_html_numbers_sections_but_not_titles_of_callouts(tmp_path: Path) -> None:
    document = Document(render(tmp_path, *MANY))
    text = document.text.replace("\xa0", " ")
    assert "See Section 1.1 and Equation 1, Table 1." in text
    assert [title.strip() for level, title in document.headings if level > 1] == ["One", "Below", "Two"]
    assert all(numbered in text for numbered in ("1 One", "1.1 Below", "2 Two"))
    assert "left_out()" in text
    kinds = {c for v in document.all("div") for c in v.get("class", "").split() if c.startswith("callout-")}
    assert {f"callout-{kind}" for kind in ("note", "tip", "important", "warning", "caution")} <= kinds
