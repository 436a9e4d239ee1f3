"""Colours, the Word template, the Quarto project and the bibliography, as files."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import zipfile

import pytest
import yaml

from dsqa.report.locate import shipped

REPORTS = shipped("reports")
CSS = (REPORTS / "theme" / "dsqa.css").read_text(encoding="utf-8")
PAGE = (REPORTS / "theme" / "page.css").read_text(encoding="utf-8")
TEXT = ("ink", "soft", "link", "right", "wrong", "unstable")
PAPER = ("page", "plate", "wash")
# Text on a colour of its own.
OWN = (
    ("right", "right-wash"),
    ("wrong", "wrong-wash"),
    ("unstable", "unstable-wash"),
    ("ink", "share"),
    ("ink", "hit"),
)


def palettes() -> dict[str, dict[str, str]]:
    """Return the colours of each theme, from the CSS itself."""
    colour = r"(#[0-9a-f]{3,6})"
    pairs = re.findall(rf"--([\w-]+): light-dark\({colour}, {colour}\);", CSS)
    light, dark = {name: first for name, first, _ in pairs}, {name: second for name, _, second in pairs}
    printed = dict(re.findall(rf"--([\w-]+): {colour};", CSS[CSS.index("@media print") :]))
    return {"light": light, "dark": dark, "print": {**light, **printed}}


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_by_hand() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.478, abs=0.001)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_text_stands_out_from_every_paper_it_may_lie_on(theme: str) -> None:
    colours = palettes()[theme]
    pairs = [*itertools.product(TEXT, PAPER), *OWN]
    weak = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: round(value, 2) for pair, value in weak.items() if value < 4.5} == {}


def test_every_colour_used_is_one_of_the_measured() -> None:
    measured = {*TEXT, *PAPER, *(name for pair in OWN for name in pair)}
    for rules in (CSS, PAGE):
        used = set(re.findall(r"(?<![-\w])(?:color|background|background-color): [^;]*?var\(--([\w-]+)\)", rules))
        assert used <= measured
        # No colour beside the palette's, but white paper under pictures and what the browser sets.
        bare = re.findall(r"(?<![-\w])(?:color|background): (#[0-9a-f]+)", rules)
        assert set(bare) <= {"#fff"}


def test_nothing_is_fetched_by_the_styles() -> None:
    for rules in (CSS, PAGE):
        assert "url(" not in rules
        assert "@import" not in rules


def test_page_breaks_spare_rows_and_figures() -> None:
    printed = CSS[CSS.index("@media print") :]
    assert "size: A4" in printed
    kept = re.search(r"([^{}]*)\{ break-inside: avoid; \}", printed)
    assert kept
    assert {"tr", "figure.figure"} <= {part.strip() for part in kept.group(1).split("*/")[-1].split(",")}


def test_word_template_is_what_its_script_makes() -> None:
    path = REPORTS / "word" / "make_reference.py"
    spec = importlib.util.spec_from_file_location("make_reference", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with zipfile.ZipFile(REPORTS / "word" / "reference.docx") as archive:
        assert archive.testzip() is None
        styles = archive.read("word/styles.xml").decode()
        page = archive.read("word/document.xml").decode()
        footer = archive.read("word/footer1.xml").decode()
    assert all(style in styles for style in module.STYLES)
    assert '<w:pgSz w:w="11906" w:h="16838"/>' in page
    assert "NUMPAGES" in footer


def test_quarto_project_names_files_that_are_there() -> None:
    project = yaml.safe_load((REPORTS / "_quarto.yml").read_text(encoding="utf-8"))
    assert project["project"]["type"] == "website"
    assert project["website"]["search"] is False
    assert set(project["format"]) == {"html", "typst", "docx"}
    assert project["execute"] == {"enabled": False}
    filters = [part if isinstance(part, str) else part["path"] for part in project["filters"]]
    html, typst, docx = (project["format"][name] for name in ("html", "typst", "docx"))
    named = [*filters, project["bibliography"], *html["css"], *typst["template-partials"]]
    for name in [*named, docx["reference-doc"], project["project"]["render"][0]]:
        assert (REPORTS / name).is_file(), name


BIB = (REPORTS / "references.bib").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^@(\w+)\{([^,\s]+),\n(.*?)^\}", BIB, re.MULTILINE | re.DOTALL)


def test_sources_have_what_a_reader_needs_to_find_them() -> None:
    keys = [key for _, key, _ in ENTRIES]
    assert len(keys) == len(set(keys)) == BIB.count("\n@") + BIB.startswith("@")
    for kind, key, body in ENTRIES:
        fields = set(re.findall(r"^\s+(\w+)\s*=", body, re.MULTILINE))
        assert {"author", "title"} <= fields, key
        needed = {"article": {"journal", "year", "volume", "pages"}, "book": {"publisher", "year"}}.get(kind, set())
        assert needed <= fields, key
        assert kind in {"article", "book"} or fields & {"url", "doi", "eprint", "booktitle"}, key
        for doi in re.findall(r"doi\s*=\s*\{(.*)\}", body):
            assert re.fullmatch(r"10\.\d{4,9}/\S+", doi), key


def test_every_source_that_a_page_cites_is_in_the_bibliography() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(shipped("notebooks").glob("*.ipynb"))]
    prose = ["".join(cell["source"]) for text in texts for cell in json.loads(text)["cells"]]
    code = [path.read_text(encoding="utf-8") for path in REPORTS.parent.glob("dsqa/report/**/*.py")]
    cited = {key for text in [*prose, *code] for key in re.findall(r"[\[;\s(-]@([a-z]+\d{4}[a-z]?)\b", text)}
    assert len(cited) > 20
    assert cited <= {key for _, key, _ in ENTRIES}
    software = {"python", "numpy", "pandas", "scipy", "statsmodels", "matplotlib", "seaborn", "papermill", "jupyter"}
    assert software | {"pandoc", "typst", "quarto", "rcore", "ni2026"} <= {key for _, key, _ in ENTRIES}
