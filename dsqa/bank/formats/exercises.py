"""What the quiz formats have in common: an exercise of one kind, HTML as text, XML and zip files read with limits."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from dsqa.bank.answer_format import ALL_RIGHT
from dsqa.bank.findings import Finding
from dsqa.bank.rows import Row, Source
from dsqa.errors import BankError

__all__ = ["Exercise", "members", "parse_xml", "plain_text", "source_of"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST_BYTES = 50_000_000
_MOST_MEMBERS = 2_000


@dataclass
class Exercise:
    """An exercise of a quiz.

    Parameters
    ----------
    text, line, name, category
        What is asked, where it stands, what it is called, and under what heading.
    options, right
        What is chosen from, and which of them (by position) are right; `several`: more than one may be.
    values
        Right answers by part; the first of a part is the truth, the others are accepted as well.
    tolerance
        Of a number.
    explanation
        What is said of the right answer.
    lost
        What is not carried over: images, feedback, partial credit.
    """

    text: str
    line: int
    name: str = ""
    category: str = ""
    options: list[str] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    several: bool = False
    values: dict[str, list[str]] = field(default_factory=dict)
    tolerance: str | dict[str, str] = ""
    explanation: str = ""
    lost: set[str] = field(default_factory=set)
    more: dict[str, Any] = field(default_factory=dict)

    def row(self, name: str) -> Row:
        """Return the exercise in a bank's fields."""
        values: dict[str, Any] = {"id": name, "question": self.text.strip(), **self.more}
        letters = _LETTERS[: len(self.options)]
        if self.options:
            values["options"] = dict(zip(letters, self.options, strict=False))
        if self.options and not self.values:
            values["answer"] = ", ".join(letters[i] for i in self.right)
            if self.several:
                values["format"] = ALL_RIGHT
        elif self.values:
            values["answer"] = [[part, right[0]] for part, right in self.values.items()]
            accepted = {part: right[1:] for part, right in self.values.items() if len(right) > 1}
            values |= {"accepted": accepted} if accepted else {}
        else:
            values["answer"] = "open"
        for key, value in (("tolerance", self.tolerance), ("reference_text", self.explanation.strip())):
            if value:
                values[key] = value
        if self.category:
            values["category"] = self.category
        return Row({k: v for k, v in values.items() if v not in ("", None)}, self.line)


def source_of(exercises: Iterable[Exercise], findings: Sequence[Finding]) -> Source:
    """Return exercises as a bank's rows, each with an id of its own, and what is not carried over."""
    rows: list[Row] = []
    found = list(findings)
    taken: Counter[str] = Counter()
    lost: dict[str, list[str]] = {}
    for position, exercise in enumerate(exercises, start=1):
        name = " ".join(exercise.name.split()) or f"q{position}"
        taken[name] += 1
        name = name if taken[name] == 1 else f"{name} ({taken[name]})"
        if exercise.options and not exercise.values and not exercise.right:
            message = "has no right option"
            found.append(Finding("common_answers", message, "mark one as right", line=exercise.line, question=name))
        if len(exercise.options) > len(_LETTERS):
            message = f"has {len(exercise.options)} options; {len(_LETTERS)} are the most"
            found.append(Finding("options", message, "leave some out", line=exercise.line, question=name))
            continue
        for what in exercise.lost:
            lost.setdefault(what, []).append(name)
        rows.append(exercise.row(name))
    for what, names in sorted(lost.items()):
        shown = ", ".join(names[:6]) + (" …" if len(names) > 6 else "")
        hint = "look whether the question can be answered without"
        severity: Any = "warning" if what.startswith("image") else "note"
        found.append(Finding(None, f"{what} not carried over: {shown}", hint, severity=severity))
    return Source(tuple(rows), tuple(found))


_BLOCKS = frozenset({"p", "div", "br", "tr", "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "pre", "blockquote"})
_UNSEEN = frozenset({"script", "style"})


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.images = 0
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in {"img", "object", "video", "audio", "iframe", "svg"}:
            self.images += 1
            alt = dict(attrs).get("alt")
            self.parts.append(f"[{alt}]" if alt else "[image]")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in {"td", "th"}:
            self.parts.append("\t")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(data)


_TAG = re.compile(r"<[A-Za-z/!][^<>]*>|&(?:#\d+|#x[0-9A-Fa-f]+|[A-Za-z]+);")


def plain_text(text: str, lost: set[str] | None = None, *, html: bool = True) -> str:
    """Return HTML as plain text; `lost` takes up what has no place in it."""
    if not html or not _TAG.search(text):
        return text.replace("\r\n", "\n").strip()
    parser = _Text()
    parser.feed(text.replace("\r\n", "\n"))
    parser.close()
    if parser.images and lost is not None:
        lost.add("images and media")
    lines = [re.sub(r"[ \t\xa0]+", " ", line).strip() for line in "".join(parser.parts).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def parse_xml(raw: bytes, path: Path) -> Element:
    """Return the root of an XML document; entities are not expanded, nothing is fetched.

    Raises
    ------
    BankError
        It is no XML, or defines entities.
    """
    if len(raw) > _MOST_BYTES:
        raise BankError(f"has more than {_MOST_BYTES // 1_000_000} MB", path=path, hint="split it")
    try:
        root: Element = fromstring(raw)
    except DefusedXmlException:
        hint = "export it anew; a quiz needs no entities of its own"
        raise BankError("is XML that defines entities, which are not read", path=path, hint=hint) from None
    except ParseError as error:
        line, column = error.position
        reason = str(error).split(":")[0]
        raise BankError(f"is not valid XML: {reason} (column {column + 1})", path=path, line=line) from None
    except (ValueError, LookupError, RecursionError) as error:
        raise BankError(f"is not valid XML: {' '.join(str(error).split())}", path=path) from None
    for element in root.iter():
        if isinstance(element.tag, str) and "}" in element.tag:
            element.tag = element.tag.rpartition("}")[2]
    return root


def members(path: Path, wanted: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files of a zip archive whose names end so.

    Raises
    ------
    BankError
        It is no zip archive, or unpacks to too much.
    """
    left = _MOST_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [i for i in archive.infolist() if i.filename.lower().endswith(wanted) and not i.is_dir()]
            if len(infos) > _MOST_MEMBERS:
                raise BankError(f"holds more than {_MOST_MEMBERS} files", path=path, hint="split it")
            for info in infos:
                with archive.open(info) as handle:
                    content = handle.read(left + 1)
                left -= len(content)
                if left < 0:
                    message = f"unpacks to more than {_MOST_BYTES // 1_000_000} MB"
                    raise BankError(message, path=path, hint="split it")
                yield info.filename, content
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        NotImplementedError,
        RuntimeError,
        EOFError,
        ValueError,
    ) as error:
        reason = "it has a password" if "password" in str(error) else "it is damaged or no zip archive"
        raise BankError(f"cannot be unpacked: {reason}", path=path, hint="export or save it anew") from None
    except zipfile.zlib.error:  # type: ignore[attr-defined]
        raise BankError("cannot be unpacked: it is damaged", path=path, hint="export or save it anew") from None
