"""Whether a question's data file holds what the question speaks of, and its other files are there."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from dsqa.authoring.wording import is_code_file
from dsqa.bank.findings import Finding
from dsqa.bank.model import Question
from dsqa.errors import DsqaError
from dsqa.prompting.tables import read_head

__all__ = ["DataFiles", "check"]

_NAMED = r"(?:[\"'“‘`])([^\"'”’`\n]{1,60})(?:[\"'”’`])"
# "the columns 'a', 'b' and 'c'": every quoted word of the row is a column.
_ROW = rf"{_NAMED}(?:(?:\s*,\s*|\s*,?\s+and\s+){_NAMED})*"
_AFTER = re.compile(rf"\b(?:columns?|variables?|fields?)\s+(?:named\s+|called\s+)?{_ROW}", re.IGNORECASE)
_BEFORE = re.compile(rf"{_NAMED}\s+(?:columns?|variables?|fields?)\b", re.IGNORECASE)
_QUOTED = re.compile(_NAMED)
_BACKTICKED = re.compile(r"`([A-Za-z_][\w.]*)`")
_BARE = re.compile(r"\b(?:columns?|variables?|fields?)\s+([A-Za-z_][\w.]*\w)|\b([A-Za-z_]\w*_\w+)\b")
_MADE = re.compile(
    r"\b(?:new|creat\w*|add\w*|call(?:ed)?|nam(?:e|ed)|generat\w*|deriv\w*|defin\w*|engineer\w*|resulting|calculat\w*)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?\n])\s+")
_FILE = re.compile(r"(?<![\w/.\\-])([\w-]+(?:\.[\w-]+)*\.(?:csv|tsv|xlsx|parquet|dat))\b", re.IGNORECASE)
_SHOWN = 8


class DataFiles:
    """The columns of a bank's data files, each read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._columns: dict[str, tuple[str, ...] | DsqaError | None] = {}

    def columns(self, name: str) -> tuple[str, ...] | DsqaError | None:
        """Return a table's columns, the error that reading it gives, or None for what is no table or not there."""
        if name not in self._columns:
            path = self.folder / name
            try:
                head = read_head(path, 1) if path.is_file() else None
            except DsqaError as error:
                self._columns[name] = error
            else:
                self._columns[name] = None if head is None or not head.has_header else tuple(head.names)
        return self._columns[name]


def check(question: Question, path: Path, files: DataFiles) -> Iterator[Finding]:
    """Yield what is wrong with the files that a question names and the columns that it speaks of."""
    yield from _beside(question, path)
    named = [m[1] for m in _FILE.finditer(question.asked)]
    if question.file_name is None:
        for name in dict.fromkeys(named):
            hint = f"write {name} as its data file" if (files.folder / name).is_file() else "name its data file"
            yield Finding(
                "file_name", f"the question speaks of {name} and has no data file", hint, severity="warning"
            )
        return
    own = Path(question.file_name).name
    for name in dict.fromkeys(named):
        if name.casefold() != own.casefold():
            message = f"the question speaks of {name}, and its data file is {own}"
            yield Finding("file_name", message, "name one file in both places", severity="warning")
    columns = files.columns(question.file_name)
    if isinstance(columns, DsqaError):
        yield Finding("file_name", f"{question.file_name}: {columns.message}", columns.hint or "mend the file")
    elif columns is not None:
        yield from _columns(question, columns)


def _beside(question: Question, path: Path) -> Iterator[Finding]:
    code, plot = question.reference_code, question.reference_plot
    for field, name in (("reference_code", code if code and is_code_file(code) else None), ("reference_plot", plot)):
        if name is not None and not (path.parent / name.strip()).is_file():
            yield Finding(field, f"there is no file {path.parent / name.strip()}", "put it there, or mend the name")


def _columns(question: Question, columns: tuple[str, ...]) -> Iterator[Finding]:
    have = {column.strip() for column in columns}
    folded = {column.strip().casefold(): column.strip() for column in columns}
    made = {word.strip() for sentence in _SENTENCE.split(question.asked) for word in _made_in(sentence)}
    shown = ", ".join(columns[:_SHOWN]) + (" …" if len(columns) > _SHOWN else "")
    said: set[str] = set()
    for word, surely in _spoken_of(question.asked):
        if word in have or word in made or word in said or word in question.answers:
            continue
        said.add(word)
        near = folded.get(word.casefold()) or next(
            iter(difflib.get_close_matches(word, list(have), n=1, cutoff=0.85) if len(word) > 4 else []), None
        )
        if not surely and near is None:
            continue
        message = f"speaks of a column '{word}', which {question.file_name} does not have"
        hint = f"did you mean '{near}'?" if near else f"it has: {shown}"
        # The very name in another case, or a near miss, is surely a slip; anything else may be meant another way.
        slip = near is not None and surely and near.casefold() == word.casefold()
        yield Finding("question", message, hint, severity="error" if slip else "warning")


def _made_in(sentence: str) -> Iterator[str]:
    """Yield the quoted words of a sentence that speaks of making something: they need not be in the file yet."""
    if _MADE.search(sentence):
        yield from (m[1] for m in _QUOTED.finditer(sentence))


def _spoken_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yield what a text seems to call a column, and whether it says so."""
    for match in _AFTER.finditer(text):
        yield from ((quoted[1].strip(), True) for quoted in _QUOTED.finditer(match[0]))
    for pattern in (_BEFORE, _BACKTICKED):
        yield from ((match[1].strip(), True) for match in pattern.finditer(text))
    for match in _BARE.finditer(text):
        yield (match[1] or match[2]), False
