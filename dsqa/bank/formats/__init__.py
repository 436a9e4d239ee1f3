"""The file formats of a bank, by the end of the file's name: each module reads one and writes one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsqa.bank.formats import (
    aiken,
    delimited,
    gift,
    jsonfile,
    markdown,
    markdown_writing,
    moodle,
    qti,
    rexams,
    word,
    workbook,
    yamlfile,
)
from dsqa.bank.model import Question
from dsqa.bank.rows import Source
from dsqa.errors import BankError

__all__ = ["SUFFIXES", "Format", "format_of"]


@dataclass(frozen=True)
class Format:
    """How one kind of file is read and written.

    A `quiz` format has no place for some fields; in all others everything comes back as it was.
    """

    read: Callable[[Path], Source]
    write: Callable[[Path, Sequence[Question]], Any]
    quiz: bool = False


def _read_only(path: Path, _questions: Sequence[Question]) -> None:
    message = f"'{path.suffix}' is read and not written"
    raise BankError(message, path=path, hint="write .xml (Moodle), .gift, .md or .xlsx")


_DELIMITED = Format(delimited.read, delimited.write)
_LINES = Format(jsonfile.read_lines, jsonfile.write_lines)
_MARKDOWN = Format(markdown.read, markdown_writing.write)
_YAML = Format(yamlfile.read, yamlfile.write)
_BY_SUFFIX = {
    ".jsonl": _LINES,
    ".ndjson": _LINES,
    ".json": Format(jsonfile.read_document, jsonfile.write_document),
    ".yaml": _YAML,
    ".yml": _YAML,
    ".csv": _DELIMITED,
    ".tsv": _DELIMITED,
    ".tab": _DELIMITED,
    ".xlsx": Format(workbook.read, workbook.write),
    ".xlsm": Format(workbook.read, workbook.write),
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".qmd": _MARKDOWN,
    ".gift": Format(gift.read, gift.write, quiz=True),
    ".aiken": Format(aiken.read, aiken.write, quiz=True),
    ".txt": Format(aiken.read, aiken.write, quiz=True),
    ".xml": Format(qti.read_xml, moodle.write, quiz=True),
    ".zip": Format(qti.read_package, _read_only, quiz=True),
    ".imscc": Format(qti.read_package, _read_only, quiz=True),
    ".rmd": Format(rexams.read, _read_only, quiz=True),
    ".rnw": Format(rexams.read, _read_only, quiz=True),
    ".docx": Format(word.read, _read_only),
}
SUFFIXES = tuple(_BY_SUFFIX)
"""The ends of names of files that can be banks."""

_OLD = {
    ".xls": "save it as .xlsx in Excel",
    ".ods": "save it as .xlsx or .csv",
    ".numbers": "export it as .xlsx or .csv",
    ".doc": "save it as .docx in Word",
    ".ipynb": "convert it to Markdown: quarto convert FILE.ipynb",
}


def format_of(path: Path) -> Format:
    """Return the format of a file by its name.

    Raises
    ------
    BankError
        No bank is written in files of that name.
    """
    suffix = path.suffix.lower()
    found = _BY_SUFFIX.get(suffix)
    if found is None:
        hint = _OLD.get(
            suffix,
            "a bank is a .csv, .tsv, .xlsx, .docx, .md, .qmd, .yaml, .json or .jsonl file, or a quiz: .gift, "
            ".txt (Aiken), .xml (Moodle, QTI), .zip (QTI), .Rmd or .Rnw (R/exams)",
        )
        raise BankError(f"'{suffix or path.name}' is not the format of a bank", path=path, hint=hint)
    return found
