"""Text from others stays text, whatever it holds."""

from __future__ import annotations

import json
import re
import subprocess

import pypandoc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.report.markdown import Column, anchor, clean, code_span, escape, figure, table, verbatim


def pandoc(markdown: str, to: str = "json") -> str:
    done = subprocess.run(
        [pypandoc.get_pandoc_path(), "--from=markdown", f"--to={to}", "--wrap=none"],
        input=markdown.encode(), capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode()


def plain(inlines: list[dict]) -> str:
    text = ""
    for inline in inlines:
        assert inline["t"] in {"Str", "Space", "Code"}, f"markup came through: {inline}"
        text += " " if inline["t"] == "Space" else inline["c"] if inline["t"] == "Str" else inline["c"][1]
    return text


awkward = st.text(
    st.one_of(st.sampled_from("\\`*_{}[]()<>#+-.!|~^$@:'\"&%= \n\t"), st.characters(exclude_categories=())),
    max_size=40,
)


def words(text: str) -> str:
    return " ".join(part for part in re.split(r"[^\S\u00a0]+", clean(text)) if part)


# Each example starts pandoc, which takes longer than reading: many texts go through it at once.
@settings(max_examples=6, deadline=None)
@given(st.lists(awkward.filter(words), min_size=10, max_size=30))
def test_escaped_text_reads_back_in_paragraphs_and_table_cells(texts: list[str]) -> None:
    paragraphs = json.loads(pandoc("\n\n".join(f"X{escape(text)}X" for text in texts)))["blocks"]
    # `smart` alone changes what is shown: dots, dashes and quotes are escaped too, so nothing is left to it.
    assert [plain(block["c"]) for block in paragraphs] == [f"X{words(text)}X" for text in texts]
    columns = [Column("a"), Column("b")]
    markdown = table(columns, [[f"X{escape(text)}X", "end"] for text in texts])
    div = json.loads(pandoc(markdown))["blocks"][0]
    body = div["c"][1][0]["c"][4][0][3]
    assert [plain(row[1][0][4][0]["c"]) for row in body] == [f"X{words(text)}X" for text in texts]
    assert {plain(row[1][1][4][0]["c"]) for row in body} == {"end"}


@settings(max_examples=6, deadline=None)
@given(st.lists(awkward, min_size=5, max_size=20))
def test_verbatim_text_reads_back_whole(texts: list[str]) -> None:
    cards = "\n\n".join(f"::: {{.card}}\n\n{verbatim(text)}\n\n:::\n\nafter" for text in texts)
    blocks = json.loads(pandoc(cards))["blocks"]
    assert [block["t"] for block in blocks] == ["Div", "Para"] * len(texts)
    for text, block in zip(texts, blocks[::2], strict=True):
        [code] = block["c"][1]
        assert code["t"] == "CodeBlock"
        # A tab is shown as spaces, and lines at the end are pandoc's to drop.
        shown = clean(text).expandtabs(4).replace("{{<", "{\u2060{<").replace("{{%", "{\u2060{%")
        assert code["c"][1].rstrip("\n") == shown.rstrip("\n")


@settings(max_examples=6, deadline=None)
@given(st.lists(awkward.filter(words), min_size=5, max_size=15))
def test_code_span_reads_back(texts: list[str]) -> None:
    markdown = table([Column("a")], [[f"X {code_span(text)} X"] for text in texts])
    rows = json.loads(pandoc(markdown))["blocks"][0]["c"][1][0]["c"][4][0][3]
    shown = [plain(row[1][0][4][0]["c"])[2:-2] for row in rows]
    assert shown == [words(text).replace("{{<", "{\u2060{<") for text in texts]


def test_verbatim_says_how_much_was_cut() -> None:
    block = verbatim("one\ntwo\nthree", max_lines=2, rest="see the record")
    assert "one\ntwo\n```" in block
    assert "6 more characters; see the record" in block
    assert "more" not in verbatim("one\ntwo", max_lines=2)
    assert "1 more character;" in verbatim("abc", max_chars=2, rest="x")


def test_clean_replaces_what_no_document_may_hold() -> None:
    assert clean("a\x00b\ud800c\u202ed\x1be") == "a\ufffdb\ufffdc\ufffdd\ufffde"
    assert clean("a\r\nb\rc\td") == "a\nb\nc\td"
    clean("\udfff").encode("utf-8")


@pytest.mark.parametrize(("first", "second"), [("16.1", "16_1"), ("a b", "a_b"), ("é", "e"), ("A", "a")])
def test_anchors_of_different_names_differ(first: str, second: str) -> None:
    assert anchor("q", first) != anchor("q", second)
    assert all(c.isascii() and (c.isalnum() or c in "-_") for c in anchor("q", first))


def test_figure_path_and_alternative_survive() -> None:
    markdown = figure("../my figures (2)/ü.svg", label="fig-x", caption="Cap", alt='say "hi" \\ <b>')
    html = pandoc(markdown, "html")
    assert 'src="../my%20figures%20%282%29/%C3%BC.svg"' in html
    assert "say &quot;hi&quot; \\ &lt;b&gt;" in html
