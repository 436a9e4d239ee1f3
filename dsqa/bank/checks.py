"""What must hold of one question beyond the types of its fields; each check yields findings."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath, PureWindowsPath

from dsqa.bank.findings import Finding
from dsqa.bank.model import Question

__all__ = ["check_data_file", "check_names", "check_text", "format_names"]

# `@name[`: the bracket must follow at once, so that an e-mail address in the text is not a placeholder.
_PLACEHOLDER = re.compile(r"@([^\s@\[\]]+)\[")
_MOST_FILES_COMPARED = 10_000


def format_names(answer_format: str) -> tuple[str, ...]:
    """Return the names of the `@name[...]` placeholders, each once, in order of appearance."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(answer_format)))


def check_text(question: Question) -> Iterator[Finding]:
    """Yield a finding for each text that is blank, or that cannot be written as UTF-8."""
    for name in ("id", "question", "format"):
        value: str = getattr(question, name)
        if not value.strip() and (name != "format" or question.marked):
            yield Finding(name, "is blank")
    for name, value in question.model_dump(mode="python").items():
        try:
            str(value).encode("utf-8")
        except UnicodeEncodeError:
            half = "holds half of a surrogate pair (\\ud800 to \\udfff alone)"
            yield Finding(name, half, "write the whole character")


def check_names(question: Question) -> Iterator[Finding]:
    """Yield a finding for each name that stands only in `format` or only in `common_answers`."""
    asked = format_names(question.format)
    given = [name for name, _ in question.common_answers]
    if question.options and len(given) == 1 and question.choice(given[0]) is None:
        message = f"'{question.answers[given[0]]}' names none of the options"
        yield Finding("common_answers", message, f"write one of the letters: {', '.join(question.options)}")
    for name, times in Counter(given).items():
        if times > 1:
            yield Finding("common_answers", f"gives '{name}' {times} times", "give each answer once")
    if not asked and not given:
        return  # an open question: nothing is read out of its answers
    if not asked:
        example = f"for example @{given[0] if given else 'answer'}[value]"
        yield Finding("format", "has no @name[value] placeholder, so no answer can be read", example)
        return
    for name in asked:
        if name not in given and name not in question.unmarked:
            hint = _close(name, given) or f"common_answers has: {', '.join(given)}"
            yield Finding("format", f"asks for '@{name}[...]', which common_answers does not give", hint)
    for name in question.unmarked:
        if name in given or name not in asked:
            why = "has an answer" if name in given else "format does not ask for"
            yield Finding("unmarked", f"names '{name}', which {why}")
    for name in dict.fromkeys(given):
        if name not in asked:
            hint = _close(name, asked) or f"format has: {', '.join('@' + n for n in asked)}"
            yield Finding("common_answers", f"gives '{name}', which format does not ask for", hint)


def check_data_file(question: Question, data_dir: Path, *, exists: bool = True) -> Iterator[Finding]:
    """Yield a finding if the data file lies outside `data_dir` or, with `exists`, is not there."""
    name = question.file_name
    if name is None:
        return
    if not name.strip():
        yield Finding("file_name", "is blank", "leave it out, or write null, if there is no data file")
        return
    windows = PureWindowsPath(name)
    if PurePosixPath(name).is_absolute() or windows.drive or windows.root or ".." in windows.parts:
        yield Finding(
            "file_name",
            f"'{name}' leads out of the data folder",
            f"put the file in {data_dir} and write its name alone",
        )
        return
    if not exists:
        return
    path = data_dir / name
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except OSError:  # a name too long for the file system
        is_file = is_folder = False
    if is_file:
        return
    hint = _closest_file(name, data_dir) if data_dir.is_dir() else f"there is no folder {data_dir}"
    yield Finding("file_name", f"{path} is a folder" if is_folder else f"no data file {path}", hint)


def _close(name: str, known: list[str] | tuple[str, ...]) -> str | None:
    # Compared without case, since a difference in case is the likeliest slip.
    by_folded = {k.casefold(): k for k in known}
    found = difflib.get_close_matches(name.casefold(), list(by_folded), n=1, cutoff=0.6)
    return f"did you mean '{by_folded[found[0]]}'?" if found else None


def _closest_file(name: str, data_dir: Path) -> str:
    files = islice((p for p in data_dir.rglob("*") if p.is_file()), _MOST_FILES_COMPARED)
    names = sorted(p.relative_to(data_dir).as_posix() for p in files)
    if not names:
        return "the folder holds no file"
    some = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
    return _close(name, names) or f"the folder has: {some}"
