"""Word documents: tables whose first row names the columns, read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from dsqa.bank.columns import field_named
from dsqa.bank.findings import Finding
from dsqa.bank.formats.delimited import HEADER_HINT
from dsqa.bank.formats.exercises import members, parse_xml
from dsqa.bank.rows import Row, Source
from dsqa.errors import BankError

__all__ = ["read"]


def read(path: Path) -> Source:
    """Read every table that has a question column; a line is a row of the table.

    Raises
    ------
    BankError
        It is no Word document, or has no such table.
    """
    found = dict(members(path, ("word/document.xml",)))
    if not found:
        raise BankError("is no Word document", path=path, hint="save it as .docx")
    root = parse_xml(next(iter(found.values())), path)
    findings: list[Finding] = []
    rows: list[Row] = []
    tables = 0
    for table in root.iter("tbl"):
        header: list[str] | None = None
        for number, line in enumerate(table.findall("tr"), start=1):
            cells = list(_cells(line))
            if header is None:
                header = cells if any(field_named(cell) == "question" for cell in cells) else None
                tables += header is not None
                continue
            values = {name: cell for name, cell in zip(header, cells, strict=False) if name.strip() and cell.strip()}
            if line.find(".//drawing") is not None or line.find(".//pict") is not None:
                message = "has an image, which is not carried over"
                hint = "look whether the question can be answered without"
                findings.append(Finding(None, message, hint, severity="warning", line=number))
            if values:
                rows.append(Row(values, number, tabular=True))
    if not tables:
        raise BankError("has no table with a column 'question'", path=path, hint=HEADER_HINT)
    return Source(tuple(rows), tuple(findings))


def _cells(line: Element) -> Iterator[str]:
    for cell in line.findall("tc"):
        span = cell.find("tcPr/gridSpan")
        yield "\n".join(filter(None, (_paragraph(p) for p in cell.findall("p")))).strip()
        width = next((v for k, v in span.attrib.items() if k.endswith("val")), "1") if span is not None else "1"
        for _ in range(min(int(width), 60) - 1 if width.isdecimal() else 0):
            yield ""


def _paragraph(paragraph: Element) -> str:
    parts = []
    for element in paragraph.iter():
        if element.tag == "t":
            parts.append(element.text or "")
        elif element.tag in {"br", "cr"}:
            parts.append("\n")
        elif element.tag == "tab":
            parts.append("\t")
    return "".join(parts).strip()
