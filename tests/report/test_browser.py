"""The site in a real browser, from a folder: it requests nothing, and its search finds things."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.browser import PROGRAM, visit
from tests.report.tiny_site import NAMES, TinySite

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium or Chrome is installed to open the report in")

_SEARCH = """(() => {
  const field = document.querySelector("#search input");
  const found = {};
  for (const words of ["μηνις UBER", "zebras", "quagga"]) {
    field.value = words;
    field.dispatchEvent(new Event("input", {bubbles: true}));
    found[words] = [...document.querySelectorAll("#search a")].map(a => a.getAttribute("href"));
  }
  return found;
})()"""


@pytest.fixture(scope="module")
def seen(tiny: TinySite, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[dict[str, list[str]]]]:
    pages = [tiny.study.report_dir / name for name in ("index.html", *(f"{name}.html" for name in NAMES))]
    return visit([page.resolve().as_uri() for page in pages], tmp_path_factory.mktemp("browser"), _SEARCH)


def test_pages_request_nothing_but_files(seen: tuple[list[str], list[dict[str, list[str]]]]) -> None:
    requested, _ = seen
    assert len([url for url in requested if url.endswith(".html")]) == 4
    assert {url.partition(":")[0] for url in requested} <= {"file", "data"}


def test_search_finds_sections_of_every_page(seen: tuple[list[str], list[dict[str, list[str]]]]) -> None:
    for found in seen[1]:
        # Accents and case do not matter.
        assert found["μηνις UBER"] == ["alpha.html#sec-alpha-shapes"]
        assert found["zebras"] == ["overview.html#q-q01"]
        assert found["quagga"] == []


def test_the_log_would_show_a_request(tmp_path: Path) -> None:
    """The check above can fail: a page that asks the network is caught."""
    page = tmp_path / "page.html"
    page.write_text('<!DOCTYPE html><title>x</title><img src="http://127.0.0.1:9/x.png">')
    requested, _ = visit([page.as_uri()], tmp_path)
    assert "http://127.0.0.1:9/x.png" in requested
