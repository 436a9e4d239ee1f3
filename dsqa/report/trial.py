"""Whether the programs that render reports work here: each makes a page of one line."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from dsqa.errors import ReportError
from dsqa.installed import installed_version
from dsqa.report.pandoc import pandoc_path, pandoc_version
from dsqa.report.quarto import Quarto, run_quarto

__all__ = ["try_pandoc", "try_quarto", "try_typst"]

_SECONDS = 60.0
_LINE = "It works.\n"


def try_quarto(quarto: Quarto) -> None:
    """Render one line with Quarto.

    Raises
    ------
    ReportError
        It failed, hung, or made nothing.
    """
    with tempfile.TemporaryDirectory(prefix="dsqa-trial-") as scratch:
        folder = Path(scratch)
        (folder / "line.md").write_text(_LINE, encoding="utf-8")
        run_quarto(quarto, ["render", "line.md", "--to", "html"], folder, silence=_SECONDS)
        made = folder / "line.html"
        if not made.is_file() or "It works." not in made.read_text(encoding="utf-8", errors="replace"):
            raise ReportError("said that all went well, but made no page")


def try_pandoc() -> str:
    """Render one line with the bundled pandoc and return pandoc's own version, such as ``3.9``.

    Raises
    ------
    MissingDependencyError
        It is not installed.
    ReportError
        It failed.
    """
    version = pandoc_version().removeprefix("pandoc ")
    try:
        done = subprocess.run(
            [pandoc_path(), "--to=html5"], input=_LINE, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ReportError(f"pandoc {version} does not work: {error}") from None
    if "<p>It works.</p>" not in done.stdout:
        raise ReportError(f"pandoc {version} does not work: {' '.join(done.stderr.split())[:200]}")
    return version


def try_typst() -> str:
    """Set one line with the bundled Typst and return its version.

    Raises
    ------
    ImportError
        It is not installed.
    ReportError
        It failed.
    """
    import typst  # noqa: PLC0415 - an extra

    with tempfile.TemporaryDirectory(prefix="dsqa-trial-") as scratch:
        source = Path(scratch) / "line.typ"
        source.write_text(_LINE, encoding="utf-8")
        try:
            made = typst.compile(str(source), format="pdf")
        except (RuntimeError, typst.TypstError) as error:
            raise ReportError(f"Typst does not work: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(made, bytes) or not made.startswith(b"%PDF"):
        raise ReportError("Typst does not work: it made no PDF")
    return installed_version("typst") or "of unknown version"
