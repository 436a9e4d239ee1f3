from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsqa.report import render_report
from dsqa.report.locate import shipped
from dsqa.report.quarto import quarto_path
from dsqa.study import StudyFolder
from tests.report.study import make_study
from tests.report.tiny_site import TinySite, write_notebooks

HOSTILE = "\n".join(
    [
        "<script>alert('INJECTED')</script><img src=x onerror=alert(1)> <!-- comment",
        "```",
        "````{=html}",
        "<b>RAWBLOCK</b>",
        "````",
        "::: {.callout-note}",
        "# A heading of the model's",
        ":::",
        "$x^2$ and \\(y\\) and $$z$$ and @fig-nothing and [@nobody] and @tbl-ledger",
        "| a | b |",
        "{{< include /etc/passwd >}} [link](javascript:alert(1)) ![](http://example.org/x.png)",
        '#dsqa-verdict("right")[typst] #import "x" \x00 \x1b[31m \ud800 \u202e',
        "END-OF-HOSTILE",
    ]
)

# What a report holds does not depend on how many resamples it took; the time does.
FEW = {"resamples": 199}


def _listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="session", autouse=True)
def real_quarto() -> Iterator[str | None]:
    """Quarto's program, for the tests that ask for it; the others render with what dsqa brings along."""
    program = quarto_path()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DSQA_QUARTO", raising=False)
        patch.setattr("dsqa.report.quarto.quarto_path", lambda: os.environ.get("DSQA_QUARTO"))
        yield program


@pytest.fixture(scope="session")
def hostile_text() -> str:
    return HOSTILE


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> StudyFolder:
    """A study in a folder with spaces, one of whose questions got hostile responses."""
    root = tmp_path_factory.mktemp("with spaces") / "runs of mine" / "my study"
    return make_study(root, texts={3: HOSTILE}, runs=10)


@pytest.fixture(scope="session")
def rendered(study: StudyFolder) -> dict[str, Path]:
    """The study's report in all formats; rendering it writes nothing where dsqa is installed."""
    before = {kind: _listing(shipped(kind)) for kind in ("notebooks", "reports")}
    paths = render_report(study, formats=("html", "pdf", "docx"), parameters=FEW)
    assert {kind: _listing(shipped(kind)) for kind in ("notebooks", "reports")} == before
    return {path.suffix[1:]: path for path in paths}


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinySite:
    """A small site with all its documents, made once; tests that change something work on a copy."""
    root = tmp_path_factory.mktemp("tiny site")
    site = TinySite(make_study(root / "runs" / "tiny", questions=1, runs=2), root / "notebooks")
    write_notebooks(site.notebooks)
    result, _ = site.build(formats=("html", "pdf", "docx"), quarto_project=root / "project")
    assert not result.failed
    return site


@pytest.fixture
def copied(tiny: TinySite, tmp_path: Path) -> TinySite:
    shutil.copytree(tiny.study.root, tmp_path / "study")
    shutil.copytree(tiny.notebooks, tmp_path / "notebooks")
    return TinySite(StudyFolder(tmp_path / "study"), tmp_path / "notebooks")
