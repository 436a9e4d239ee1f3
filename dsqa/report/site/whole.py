"""Whether a rendered file is whole, before it takes the place of an earlier one."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from nbformat import NotebookNode

from dsqa.report.site.texts import defined_ids, notebook_of

__all__ = ["what_is_wrong"]

_LABELLED = re.compile(r"^(?:sec|fig|tbl)-")
_HIDDEN = re.compile(r"^#\|\s*(?:include|output):\s*false\s*$", re.MULTILINE)
_ID = re.compile(r"""\bid\s*=\s*["']([^"']+)["']""")


def what_is_wrong(path: Path, notebook: NotebookNode) -> str:
    """Return what is wrong with a file that was rendered from a notebook, or nothing.

    HTML must end, and hold every section, figure and table that the notebook labels; a PDF must begin and end as one;
    a Word file must be an archive with a document in it.
    """
    if not path.is_file():
        return "was not made"
    content = path.read_bytes()
    if path.suffix == ".html":
        return _html(content.decode("utf-8", "replace"), notebook)
    if path.suffix == ".pdf":
        whole = content.startswith(b"%PDF-") and b"%%EOF" in content[-1024:]
        return "" if whole else f"is no whole PDF ({len(content)} bytes)"
    try:
        with zipfile.ZipFile(path) as archive:
            return "" if b"<w:p" in archive.read("word/document.xml") else "has no paragraph in it"
    except (zipfile.BadZipFile, KeyError, OSError):
        return f"is no Word document ({len(content)} bytes)"


def _html(text: str, notebook: NotebookNode) -> str:
    if "</html>" not in text[-200:].lower():
        return f"is no whole page ({len(text)} characters)"
    shown = [cell for cell in notebook.cells if not (cell.cell_type == "code" and _HIDDEN.search(cell.source))]
    wanted = dict.fromkeys(i for i in defined_ids(notebook_of(shown)) if _LABELLED.match(i))
    there = set(_ID.findall(text))
    gone = [i for i in wanted if i not in there]
    return f"lacks {len(gone)} of {len(wanted)} labelled parts, such as '{gone[0]}'" if gone else ""
