"""Which code a response asks its reader to run, and the text that is left without it."""

from __future__ import annotations

import ast
import builtins
import html
import re
from dataclasses import dataclass, field
from typing import Any

from dsqa.execution.fences import Block, Piece, split_blocks
from dsqa.execution.source import Kind, clean, does_something, judge, looks_like_code, parse

__all__ = ["CodeBlock", "Extraction", "extract"]

# What a sentence before a block says about it.
_INSTEAD = re.compile(
    r"\b(?:alternative(?:ly)?|another (?:way|approach|method|option)|option [2-9b]|or (?:simply|you (?:can|could))"
    r"|(?:second|different) (?:way|approach|method)|equivalently"
    r"|(?:method|approach|way|solution|variant|alternative) (?:[2-9bc]|two|three))\b|^\W*or\W*$",
    re.IGNORECASE | re.MULTILINE,
)
# What a sentence before a block without a tag says of a claimed result.
_CLAIMED = re.compile(
    r"\b(?:output|result|results)\b[^\n.]{0,40}:?\W*$|\b(?:prints?|outputs?|returns?|produces?|shows?)\b[^\n.]{0,40}:\W*$",
    re.IGNORECASE,
)
_COMPLETE = re.compile(
    r"\b(?:(?:complete|full|entire|whole|final|corrected|fixed|updated|revised|improved) (?:\w+ ){0,2}"
    r"(?:code|script|program|version|example|solution|snippet)|put(?:ting)? (?:it|everything) (?:all )?together"
    r"|all together)\b",
    re.IGNORECASE,
)
_CUE_CHARACTERS = 300
_LONGEST_UNMARKED = 50_000
_SURROGATE = re.compile("[\ud800-\udfff]")
_STARTS = re.compile(
    r"^(?:import[ \t]+\w[\w., \t]*(?:[ \t]as[ \t]\w+)?[ \t]*$|from[ \t]+[\w.]+[ \t]+import[ \t]|print\(.*\)[ \t]*$"
    r"|\w+[ \t]*=[ \t]*pd\.\w+\()",
    re.MULTILINE,
)
_NOTE_CAP = 40


@dataclass(frozen=True)
class CodeBlock:
    """A block found in a response, and what became of it.

    Parameters
    ----------
    tag, text, first_line
        As it stands in the response.
    taken
        True if it is part of `Extraction.code`.
    why
        Why it was taken or left out.
    """

    tag: str
    text: str
    first_line: int
    taken: bool
    why: str


@dataclass(frozen=True)
class Extraction:
    """What `extract` found.

    Parameters
    ----------
    code
        The Python to run, or None.
    prose
        The response with every block of code left out; blocks of output stay.
    language
        ``Python`` where there is code, the name of the other language where there is only that, else None.
    blocks
        Every block, in order.
    notes
        What was taken, left out and mended, in words.
    """

    code: str | None
    prose: str
    language: str | None
    blocks: tuple[CodeBlock, ...] = ()
    notes: tuple[str, ...] = ()

    def summary(self) -> dict[str, list[Any]]:
        """Return what was taken, left out and mended, small enough for a table.

        Returns
        -------
        dict
            ``taken`` and ``left_out``: lists of [first line, last line, tag, why]; ``notes``, in words, on lines
            that were changed within a block. Empty lists are left out.
        """
        rows: dict[str, list[Any]] = {"taken": [], "left_out": [], "notes": []}
        for block in self.blocks[:_NOTE_CAP]:
            last = block.first_line + block.text.count("\n")
            rows["taken" if block.taken else "left_out"].append([block.first_line, last, block.tag, block.why])
        said = {f"line {block.first_line}: {block.why}" for block in self.blocks}
        rows["notes"] = [note for note in self.notes if note not in said][:_NOTE_CAP]
        return {name: found for name, found in rows.items() if found}


@dataclass
class _Candidate:
    block: Block
    code: str
    cue: str
    taken: bool = True
    why: str = "Python"
    lines: frozenset[str] = field(default_factory=frozenset)


def extract(text: str) -> Extraction:
    """Find the Python code of a response.

    Parameters
    ----------
    text
        The response.

    Returns
    -------
    Extraction

    Notes
    -----
    Blocks are what fences (three or more backticks or tildes, closed or not), ``<pre>`` or, where there are neither,
    indentation mark; a response without any mark that is Python as a whole is one block. A block without a tag that
    does not parse as Python, or does nothing, is output that the response claims, not code. Of several blocks of
    Python, those are left out that repeat another, whose lines all stand in a longer one, or that come as an
    alternative to what was already given; after "the complete code" only what follows counts. The rest run one
    after the other, as the cells of a notebook would.
    """
    text = _as_lines(text)
    pieces = split_blocks(text)
    if not any(isinstance(piece, Block) for piece in pieces) and "&lt;pre" in text.lower():
        pieces = split_blocks(html.unescape(text))
    if not any(isinstance(piece, Block) for piece in pieces):
        pieces = _unmarked(text)
    elif (stray := _before_a_stray_fence(pieces)) is not None:
        pieces = stray
    candidates: list[_Candidate] = []
    found: list[CodeBlock | _Candidate] = []
    prose: list[str] = []
    notes: list[str] = []
    languages: list[str] = []
    last_text = ""
    for piece in pieces:
        if isinstance(piece, str):
            prose.append(piece)
            last_text = piece
            continue
        if not piece.text.strip():
            notes.append(f"line {piece.first_line}: empty block or stray fence left out")
            continue
        code, mended = clean(piece.text)
        kind = judge(piece.tag, code)
        if kind.name == "python" and not piece.tag and candidates and _is_claimed(last_text, code):
            kind = Kind("output")
        where = f"line {piece.first_line}"
        if kind.name == "python":
            candidate = _Candidate(piece, code, last_text[-_CUE_CHARACTERS:])
            candidates.append(candidate)
            found.append(candidate)
            notes += [f"{where}: {note}" for note in mended]
            if not piece.closed and piece.mark != "indent":
                notes.append(f"{where}: block is not closed")
        else:
            found.append(CodeBlock(piece.tag, piece.text, piece.first_line, False, _why(kind)))
            notes.append(f"{where}: {_why(kind)}")
            if kind.name == "other" and kind.language:
                languages.append(kind.language)
            if kind.name == "output":
                prose.append(piece.text)
        last_text = ""
    _choose(candidates)
    blocks = []
    for entry in found:
        if isinstance(entry, CodeBlock):
            blocks.append(entry)
            continue
        blocks.append(CodeBlock(entry.block.tag, entry.block.text, entry.block.first_line, entry.taken, entry.why))
        if not entry.taken:
            notes.append(f"line {entry.block.first_line}: {entry.why}")
    code = "\n\n".join(c.code.strip("\n") for c in candidates if c.taken)
    if len(notes) > _NOTE_CAP:
        notes = [*notes[:_NOTE_CAP], f"and {len(notes) - _NOTE_CAP} more"]
    language = "Python" if code else languages[0] if languages else None
    return Extraction(
        code=code + "\n" if code else None,
        prose="\n".join(prose).strip(),
        language=language,
        blocks=tuple(blocks),
        notes=tuple(notes),
    )


def _is_claimed(before: str, code: str) -> bool:
    """Tell the output that a response claims, which may parse (`OLSResults(x)`), from code without a tag."""
    tree = parse(code)
    if tree is None or not _CLAIMED.search(before.rstrip()[-_CUE_CHARACTERS:]):
        return False
    return all(isinstance(statement, ast.Expr | ast.AnnAssign) for statement in tree.body) and "print" not in code


def _why(kind: Kind) -> str:
    if kind.name == "other":
        return f"{kind.language}, not Python: left out"
    return "output, not code" if kind.name == "output" else "installation commands left out"


def _unmarked(text: str) -> list[Piece]:
    """Return the pieces of a text without fences: all of it code, or its indented paragraphs."""
    # Most responses without a mark are prose: a glance at the first line spares parsing them.
    first = next((line for line in text.split("\n") if line.strip()), "")
    if looks_like_code(first):
        whole, _ = clean(text)
        tree = parse(whole)
        if tree is not None and does_something(tree):
            return [Block("", text, 1, True, "indent")]
    among = _among_prose(text)
    if among is not None:
        return among
    pieces: list[Piece] = []
    run: list[str] = []
    prose: list[str] = []
    start = 0
    # A line of prose after the last one, so that what is indented at the end is closed too.
    for number, line in enumerate([*text.split("\n"), "end"], 1):
        filled = bool(line.strip())
        if (filled and line.startswith(("    ", "\t"))) or (run and not filled):
            start = start if run else number
            run.append(line)
            continue
        if run:
            block = _indented(run, start)
            if block is not None:
                pieces += ["\n".join(prose), block]
                prose = []
            else:
                prose += run
            run = []
        prose.append(line)
    pieces.append("\n".join(prose[:-1]))
    return pieces


def _as_lines(text: str) -> str:
    """Return a text whose lines end at a line feed only, and which is Unicode throughout."""
    if "\r" in text:
        text = text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _SURROGATE.search(text) else text


def _among_prose(text: str) -> list[Piece] | None:
    """Return the pieces of a text with a program in it that nothing marks; None where there is none.

    The lines from an import (or from a call of ``print`` or pandas) to the last that looks like code are tried; they
    count if they parse as they are.
    """
    if not _STARTS.search(text) or len(text) > _LONGEST_UNMARKED:
        return None
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if _STARTS.match(line)), None)
    if start is None:
        return None
    end = start
    for i in range(start, len(lines)):
        if looks_like_code(lines[i]) or lines[i][:1] in " \t":
            end = i
        elif lines[i].strip():
            break
    code = "\n".join(lines[start : end + 1])
    tree = parse(clean(code)[0])
    if tree is None or not does_something(tree):
        return None
    before, after = "\n".join(lines[:start]), "\n".join(lines[end + 1 :])
    return [before, Block("", code, start + 1, True, "indent"), after]


def _indented(run: list[str], start: int) -> Block | None:
    filled = [line for line in run if line.strip()]
    if not looks_like_code(filled[0].strip()):
        return None
    width = min(len(line) - len(line.lstrip(" \t")) for line in filled)
    code, _ = clean("\n".join(line[width:] for line in run))
    tree = parse(code)
    if tree is None or not does_something(tree):
        return None
    return Block("", "\n".join(line[width:] for line in run).rstrip(), start, True, "indent")


def _before_a_stray_fence(pieces: list[Piece]) -> list[Piece] | None:
    """Return the pieces if the only fence closes a block that was never opened: the text before it is the code."""
    blocks = [piece for piece in pieces if isinstance(piece, Block)]
    if len(blocks) != 1 or blocks[0].closed or blocks[0].tag or not isinstance(pieces[0], str):
        return None
    code, _ = clean(pieces[0])
    tree = parse(code)
    if tree is None or not does_something(tree):
        return None
    return [Block("", pieces[0], 1, True, "fence"), blocks[0].text]


def _choose(candidates: list[_Candidate]) -> None:
    """Mark which of several blocks to leave out."""
    for candidate in candidates:
        stripped = (line.strip() for line in candidate.code.split("\n"))
        candidate.lines = frozenset(line for line in stripped if line and not line.startswith("#"))
    if len(candidates) < 2:
        return
    complete = [i for i, c in enumerate(candidates) if i and _COMPLETE.search(c.cue) and _stands_alone(c, set())]
    if complete:
        for candidate in candidates[: complete[-1]]:
            candidate.taken, candidate.why = False, "left out: a complete version follows"
    longest = max((c for c in candidates if c.taken), key=lambda c: len(c.lines))
    seen: set[frozenset[str]] = set()
    bound: set[str] = set()
    for candidate in candidates:
        if not candidate.taken:
            continue
        if candidate.lines in seen:
            candidate.taken, candidate.why = False, "left out: repeats another block"
        elif candidate is not longest and candidate.lines <= longest.lines:
            candidate.taken, candidate.why = False, "left out: all of it stands in a longer block"
        elif seen and _INSTEAD.search(candidate.cue) and _stands_alone(candidate, bound):
            candidate.taken, candidate.why = False, "left out: an alternative to the code before it"
        else:
            seen.add(candidate.lines)
            bound |= _names(candidate.code)[0]


def _stands_alone(candidate: _Candidate, bound: set[str]) -> bool:
    """Return True if the block needs nothing that earlier blocks made.

    An alternative may go on using the data that was read, so names bound before (`bound`) count as given.
    """
    binds, loads = _names(candidate.code)
    return bool(binds or loads) and not (loads - binds - bound - set(dir(builtins)))


def _names(code: str) -> tuple[set[str], set[str]]:
    """Return the names a block binds and the names it reads."""
    tree = parse(code)
    binds: set[str] = set()
    loads: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Name):
            (loads if isinstance(node.ctx, ast.Load) else binds).add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            binds |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            binds.add(node.name)
        elif isinstance(node, ast.arg):
            binds.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            binds.add(node.name)
    return binds, loads
