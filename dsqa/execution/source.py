"""Tell whether a block is Python, and clean off what only a notebook or a console understands."""

from __future__ import annotations

import ast
import functools
import html
import io
import re
import tokenize
import warnings
from dataclasses import dataclass

from dsqa.execution.languages import language_of

__all__ = ["Kind", "clean", "code_lines", "does_something", "judge", "looks_like_code", "parse"]

# Longer sources are judged by their looks; parsing them would take long and no question needs them.
_PARSE_CAP = 200_000
_OTHER_NAMES = {"r": "R", "rscript": "R", "sql": "SQL", "js": "JavaScript", "jl": "Julia"}

_PYTHON_LOOKS = re.compile(
    r"^[ \t]*(?:import[ \t]+\w+|from[ \t]+[\w.]+[ \t]+import\b|def[ \t]+\w+[ \t]*\(|print[ \t]*\("
    r"|\w+[ \t]*=[ \t]*pd\.)",
    re.MULTILINE,
)
_R_LOOKS = re.compile(
    r"^[ \t]*(?:[\w.]+[ \t]*<-[ \t]*\S|library\(|require\(|install\.packages\()|%>%|\|>|\w\$[A-Za-z_]"
    r"|\bfunction[ \t]*\([^)\n]*\)[ \t]*\{",
    re.MULTILINE,
)
# `print(` is in both.
_ONLY_PYTHON = re.compile(
    r"^[ \t]*(?:import[ \t]+\w+|from[ \t]+[\w.]+[ \t]+import\b|def[ \t]+\w+[ \t]*\(|elif\b|\w+[ \t]*=[ \t]*pd\.)",
    re.MULTILINE,
)
_PROMPT = re.compile(r"^[ \t]*(?:>>> ?|In \[\d*\]: ?)", re.MULTILINE)
_INSTALL = re.compile(
    r"^[ \t]*(?:[!%$][ \t]*)?(?:(?:python3?|py)[ \t]+-m[ \t]+)?(?:pip3?|conda|mamba|uv|apt(?:-get)?)[ \t]+[a-z].*$"
)
_MAGIC = re.compile(
    r"^[ \t]*(?:![^=]|%{1,2}[A-Za-z]|\?{1,2}\w|[\w.]+\?{1,2}[ \t]*$|[A-Za-z_][\w, \t]*=[ \t]*(?:!|%[A-Za-z]))"
)
_TIMED = re.compile(r"^(?P<indent>[ \t]*)%time[ \t]+(?P<code>\S.*)$")
_CELL_OTHER = re.compile(
    r"^[ \t]*%%(bash|sh|script|R|html|HTML|javascript|js|latex|writefile|sql|perl|ruby|cython)\b"
)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#39|#34|nbsp);")


_MARK = re.compile(r"<\|[^<>|\s]{1,40}\|>|<(?:eos|end_code|end_of_turn|EOT|/s)>|\[/?(?:EOS|INST)\]")
# Characters that no source may hold, or that only look like a blank.
_UNREADABLE = (
    dict.fromkeys([*range(9), 11, *range(14, 32), 127, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF])
    | dict.fromkeys([0xA0, 0x2002, 0x2003, 0x2007, 0x2009, 0x202F, 0x3000], " ")
    | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
)


@dataclass(frozen=True)
class Kind:
    """What a block is: ``python``, ``output``, ``install`` or ``other`` (then `language` names it)."""

    name: str
    language: str | None = None


_CODE_LINE = re.compile(
    r"\s*(?:import\s+\w|from\s+[\w.]+\s+import\b|(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[:(]|(?:for|while|with|if|elif)\s.{1,200}:\s*"
    r"(?:#.*|\w.*)?$|(?:try|else|finally)\s*:|except\b.{0,80}:|return\b|raise\s+\w|assert\s|pass$|break$|continue$|del\s+\w|global\s"
    r"|@\w[\w.]*(?:\(.*)?$|#|>>>|In\s\[|!\s?pip|[%!]\w|[\"']{3}|[\])}]+[,.)\]}\s]*$"
    r"|[A-Za-z_][\w.]*(?:\[[^\]\n]{0,80}\])*\s*(?:,\s*[A-Za-z_][\w.]*\s*){0,6}(?::\s*[\w\[\], .|]{1,40})?\s*"
    r"(?:[-+*/%&|^]|//|\*\*|<<|>>)?=(?!=)\s*\S"
    r"|[A-Za-z_][\w.]*\(|[A-Za-z_][\w.]*\[[^\]\n]{1,80}\]\s*[.=]|[A-Za-z_]\w*(?:\.\w+)+\s*$|[\[({])"
)
_PROSE_LINE = re.compile(r"\s*(?:[*_#>-]+\s+)?[\"'*_]*[A-Z][\w'’-]*,?(?:\s+[(\"'`*_]*[\w'’%.-]+[)\"'`*_]*[,;:]?){2,}")
_KEYWORD = re.compile(r"(?:for|while|if|elif|else|with|def|class|try|except|return|import|from|print|lambda)\b")
_END_LINE = re.compile(r"\n\[/?(?:EOS|INST)\]\s*$")
_CUTS = 12


# One block is looked at from several sides in turn.
@functools.lru_cache(maxsize=8)
def parse(code: str) -> ast.Module | None:
    """Return the syntax tree, or None if the code is not Python or too long to tell."""
    if len(code) > _PARSE_CAP:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def looks_like_code(line: str) -> bool:
    """Tell a line that may begin or continue a program from one of prose, by its looks."""
    return _CODE_LINE.match(line) is not None


def code_lines(code: str) -> int | None:
    """Return how many lines of a block that was never closed are code, where prose follows it; None where none does.

    The longest beginning that parses and ends at a blank line, or where a line of prose begins. What follows must not
    look like code: a program that was cut off is not mended.
    """
    lines = code.split("\n")
    end = len(lines)
    if len(code) > _PARSE_CAP:
        return None
    for _ in range(_CUTS):
        tree, error = _parsed("\n".join(lines[:end]))
        if tree is not None:
            following = next((line for line in lines[end:] if line.strip()), "")
            cut_off = looks_like_code(following) or following[:1] in {" ", "\t"} or _KEYWORD.match(following)
            sound = does_something(tree) and not cut_off
            return end if sound else None
        at = min(error, end) - 1
        if at > 0 and _PROSE_LINE.match(lines[at]) and not looks_like_code(lines[at]):
            end = at
            continue
        blank = next((i for i in range(at, 0, -1) if not lines[i].strip() and i < end), None)
        if blank is None:
            return None
        end = blank
    return None


def _parsed(code: str) -> tuple[ast.Module | None, int]:
    tree = parse(clean(code)[0])
    if tree is not None:
        return tree, 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except SyntaxError as error:
        return None, error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return None, 1
    return None, 1


def judge(tag: str, code: str) -> Kind:
    """Say what a block is, by its tag and by whether it parses.

    Parameters
    ----------
    tag
        Language tag, lower case, or "".
    code
        The block, already cleaned.
    """
    cell = _CELL_OTHER.match(code.lstrip("\n"))
    if cell:
        return Kind("other", {"R": "R", "sql": "SQL"}.get(cell[1], "shell" if cell[1] in {"bash", "sh"} else cell[1]))
    says, name = language_of(tag)
    if says == "shell":
        lines = [line for line in code.split("\n") if line.strip() and not line.lstrip().startswith("#")]
        return Kind("install") if all(_INSTALL.match(line) for line in lines) else Kind("other", "shell")
    if says == "output":
        return Kind("output")
    if says == "python":
        return Kind("other", "R") if _is_r(code) else Kind("python")
    if says == "other":
        return Kind("other", _OTHER_NAMES.get(name, name))
    tree = parse(code)
    if tree is not None and not _is_r(code):
        return Kind("python") if does_something(tree) else Kind("output")
    if _is_r(code):
        return Kind("other", "R")
    return Kind("python") if _PYTHON_LOOKS.search(code) else Kind("output")


def does_something(tree: ast.Module) -> bool:
    """Return False for what parses but is only a result: ``42``, ``mean: 3.5``, ``x = 1``, ``['a', 'b']``."""
    working = (
        ast.Import, ast.ImportFrom, ast.Call, ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With, ast.Try,
    )  # fmt: skip
    return any(isinstance(node, working) for node in ast.walk(tree))


def clean(text: str) -> tuple[str, list[str]]:
    """Return the block as plain Python, with what was done to it in words.

    Prompts and the output between them, escaped HTML and notebook lines (``!pip``, ``%matplotlib``) go; lines are
    replaced, not removed, where that keeps line numbers. What parses as it stands is left alone.
    """
    notes: list[str] = []
    code = _END_LINE.sub("", text)
    tree = parse(code)
    if tree is None:
        code = _MARK.sub("", code.translate(_UNREADABLE)).expandtabs(8)
        tree = parse(code)
    # What parses holds no prompts, only strings that show some; 'In [1]: x' parses as an annotation.
    if (tree is None or _annotates_prompts(tree)) and _PROMPT.search(code):
        code = _without_prompts(code)
        notes.append("prompts and the output between them left out")
    if _ENTITY.search(code):
        plain = html.unescape(code).replace("\u00a0", " ")
        if parse(code) is None or _entities_outside_strings(code):
            code = plain
            notes.append("HTML escapes undone")
    if not _CELL_OTHER.match(code.lstrip("\n")) and parse(code) is None:
        code = _without_notebook_lines(code, notes)
    return code, notes


def _annotates_prompts(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Subscript)
        and isinstance(node.target.value, ast.Name)
        and node.target.value.id in {"In", "Out"}
        for node in tree.body
    )


def _is_r(code: str) -> bool:
    if _ONLY_PYTHON.search(code) or not _R_LOOKS.search(code):
        return False
    tree = parse(code)
    return tree is None or any(_is_r_statement(statement, code) for statement in tree.body)


def _is_r_statement(statement: ast.stmt, code: str) -> bool:
    """Tell R that happens to parse: `x <- f(y)`, which compares and forgets, and `library(name)`."""
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    if isinstance(value, ast.Compare):
        first = value.comparators[0]
        negative = isinstance(value.ops[0], ast.Lt) and isinstance(first, ast.UnaryOp)
        return negative and "<-" in code.split("\n")[statement.lineno - 1]
    return (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in {"library", "require"}
    )


def _without_prompts(code: str) -> str:
    kept: list[str] = []
    inside = False
    for line in code.split("\n"):
        prompt = _PROMPT.match(line)
        if prompt:
            kept.append(line[prompt.end() :])
            inside = True
            continue
        more = re.match(r"^[ \t]*(?:\.\.\.(?: |$)|   \.\.\.: ?)", line)
        if inside and more:
            kept.append(line[more.end() :])
        else:
            inside = False
    return "\n".join(kept)


def _entities_outside_strings(code: str) -> bool:
    """Tell `a &lt; b`, which parses, from an entity inside a string."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return True
    triples = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return any(a.string == "&" and b.string in {"lt", "gt", "amp", "quot"} and c.string == ";" for a, b, c in triples)


def _without_notebook_lines(code: str, notes: list[str]) -> str:
    kept: list[str] = []
    for line in code.split("\n"):
        timed = _TIMED.match(line)
        if timed is not None:
            # What it times is run in a notebook too.
            notes.append(f"notebook mark taken off: {line.strip()[:80]}")
            kept.append(timed["indent"] + timed["code"])
        elif _MAGIC.match(line) or _INSTALL.match(line):
            notes.append(f"notebook line left out: {line.strip()[:80]}")
            indent = line[: len(line) - len(line.lstrip())]
            # Inside an `if` or `try` something must stand in its place.
            kept.append(f"{indent}pass" if indent else "#")
        else:
            kept.append(line)
    return "\n".join(kept)
