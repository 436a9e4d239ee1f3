"""The executed notebook as HTML, PDF or Word, with the bundled pandoc and Typst."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dsqa.errors import MissingDependencyError, ReportError
from dsqa.report.locate import shipped

__all__ = ["pandoc_path", "pandoc_version", "render_with_pandoc"]

_READER = "ipynb+raw_markdown"


def render_with_pandoc(notebook: Path, target: Path, metadata: Mapping[str, Any]) -> None:
    """Render an executed notebook to `target`; its suffix says the format.

    Parameters
    ----------
    notebook
        With its outputs. Pictures in it are relative to its folder.
    target
        ``.html``, ``.pdf`` or ``.docx``. Replaced only once the new one is whole.
    metadata
        Document metadata beside the notebook's own, such as ``subtitle``: texts as they are to be read, true and
        false, lists and mappings of these.

    Raises
    ------
    MissingDependencyError
        pandoc, or Typst for a PDF, is not installed.
    ReportError
        The document could not be made.
    """
    makers: dict[str, Callable[[Path, Path, Mapping[str, Any]], None]] = {
        ".html": _html,
        ".pdf": _pdf,
        ".docx": _docx,
    }
    # Beside the target, so that the last step is a rename; made anew by each caller.
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix)
    os.close(handle)
    beside = Path(name)
    try:
        makers[target.suffix](notebook, beside, metadata)
        beside.chmod(0o644)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _html(notebook: Path, target: Path, metadata: Mapping[str, Any]) -> None:
    theme = shipped("reports") / "theme"
    _pandoc(
        notebook,
        target,
        "html5",
        metadata,
        f"--template={theme / 'template.html'}",
        f"--css={theme / 'dsqa.css'}",
        "--embed-resources",
        "--mathml",
        "--toc",
        "--toc-depth=2",
    )


def _docx(notebook: Path, target: Path, metadata: Mapping[str, Any]) -> None:
    _pandoc(notebook, target, "docx", metadata, f"--reference-doc={shipped('reports') / 'word' / 'reference.docx'}")


def _pdf(notebook: Path, target: Path, metadata: Mapping[str, Any]) -> None:
    try:
        import typst  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingDependencyError("a PDF needs Typst", hint="pip install 'dsqa[render]'") from None
    template = shipped("reports") / "typst" / "pandoc-template.typ"
    # Typst reads only below its root; a source of its own beside the notebook keeps the pictures' paths.
    handle, name = tempfile.mkstemp(dir=notebook.parent, prefix=f".{notebook.stem}-", suffix=".typ")
    os.close(handle)
    source = Path(name)
    try:
        _pandoc(notebook, source, "typst", metadata, f"--template={template}")
        typst.compile(str(source), output=str(target), root=str(notebook.parent.parent))
    except (RuntimeError, typst.TypstError) as error:
        raise ReportError(
            f"Typst could not set the PDF: {_one_line(error)}",
            path=notebook,
            hint="the HTML is not affected; please report this with the notebook",
        ) from None
    finally:
        source.unlink(missing_ok=True)


def _pandoc(notebook: Path, target: Path, to: str, metadata: Mapping[str, Any], *options: str) -> None:
    reports = shipped("reports")
    # pandoc writes the year of a Word file's creation from this; without it, the clock.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "0")}
    with tempfile.TemporaryDirectory(prefix="dsqa-pandoc-") as scratch:
        # From a file, so that no value of it is read as Markdown or seen among the arguments.
        extra = Path(scratch) / "metadata.json"
        extra.write_text(json.dumps({"lang": "en", **_escaped(metadata)}), encoding="utf-8")
        command = [
            pandoc_path(),
            f"--from={_READER}",
            "--ipynb-output=all",
            f"--to={to}",
            "--standalone",
            f"--lua-filter={reports / 'filters' / 'dsqa.lua'}",
            "--citeproc",
            f"--bibliography={reports / 'references.bib'}",
            "--syntax-highlighting=none",
            "--wrap=none",
            f"--metadata-file={extra}",
            f"--resource-path={notebook.parent}",
            "--fail-if-warnings=false",
            *options,
            f"--output={target.resolve()}",
            notebook.name,
        ]
        done = subprocess.run(
            command,
            cwd=notebook.parent,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            errors="replace",
        )
    if done.returncode or "Could not fetch resource" in done.stderr:
        raise ReportError(f"pandoc could not render it: {_one_line(done.stderr)}", path=notebook)


@cache
def pandoc_version() -> str:
    """Return what the bundled pandoc says of itself.

    Raises
    ------
    MissingDependencyError
        It is not installed.
    """
    done = subprocess.run([pandoc_path(), "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", value)
    if isinstance(value, Mapping):
        return {key: _escaped(part) for key, part in value.items()}
    return [_escaped(part) for part in value] if isinstance(value, list | tuple) else value


def pandoc_path() -> str:
    """Return the bundled pandoc.

    Raises
    ------
    MissingDependencyError
        It is not installed.
    """
    try:
        import pypandoc  # noqa: PLC0415 - an extra

        return str(pypandoc.get_pandoc_path())
    except (ImportError, OSError):
        raise MissingDependencyError(
            "rendering needs Quarto on the PATH, or pandoc", hint="pip install 'dsqa[render]'"
        ) from None


def _one_line(text: object) -> str:
    # Of an error of the filter: what it says, without where in the filter it was said.
    said = str(text).partition("stack traceback:")[0]
    said = re.sub(r"Error running filter \S+:\s*(?:\S+\.lua:\d+:\s*)?", "", said)
    return " ".join(said.split())[:600]
