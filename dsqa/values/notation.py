r"""Marks around a value taken off: bold, code, quotes, LaTeX, HTML; and strings in canonical form."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

__all__ = ["canonical_string", "plain", "undressed"]

_LONGEST = 2000  # beyond this a value is taken as it is: no answer of a question is that long
_PAIRS = (
    ("**", "**"), ("__", "__"), ("*", "*"), ("_", "_"), ("```", "```"), ("`", "`"), ("$$", "$$"), ("$", "$"),
    ("\\(", "\\)"), ("\\[", "\\]"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"), ("„", "“"),
)  # fmt: skip
_WRAPPED = re.compile(
    r"\\(?:text(?:bf|it|tt|rm|sf|sc|normal|md)?|math(?:rm|bf|it|tt|sf|bb|cal|normal)|operatorname|[f]?boxed|emph|underline|mbox|hbox"
    r"|bm|boldsymbol|overline|fbox|framebox|color(?:box)?\s?\{[a-z]{1,20}\}|textcolor\s?\{[a-z]{1,20}\}|ensuremath|num|qty|SI)"
    r"\s*\{([^{}]{0,500})\}"
)
_FRACTIONS = tuple(
    re.compile(rf"(\d?)\s*\\[dtc]?frac\s*{top}\s*{bottom}")
    for top, bottom in (
        (r"\{\s*([^{}]{1,40})\}", r"\{\s*([^{}]{1,40})\}"),
        (r"\{\s*([^{}]{1,40})\}", r"(\d|[a-z](?![a-z]))"),
        (r"(\d)", r"\{\s*([^{}]{1,40})\}"),
        (r"(\d)", r"(\d)"),  # arguments of one token need no braces
    )
)
_OVER = re.compile(r"(\d?)\s*\{\s*([^{}\\]{1,40}?)\s*\\over\s*([^{}\\]{1,40}?)\s*\}")
_ALONE_OVER = re.compile(r"^\s*([^{}\\]{1,40}?)\s*\\over\s*([^{}\\]{1,40}?)\s*$")
_SET = re.compile(r"\\(?:displaystyle|textstyle|scriptstyle|large|Large|normalsize|bf|rm|it|tt|sf)(?![a-zA-Z])\s*")
_LATEX = {
    "\\times": "×", "\\cdot": "×", "\\pm": "±", "\\infty": "∞", "\\approx": "≈", "\\sim": "~", "\\leq": "≤",
    "\\le": "≤", "\\geq": "≥", "\\ge": "≥", "\\lt": "<", "\\gt": ">", "\\left": "", "\\right": "", "{,}": ",",
    "{.}": ".",
    "\\,": "\u2009", "\\;": " ", "\\:": " ", "\\!": "", "\\ ": " ", "\\%": "%", "\\$": "$", "\\_": "_", "\\&": "&",
    "\\#": "#", "\\degree": "°", "^\\circ": "°", "^{\\circ}": "°", "\\circ": "°", "\\quad": " ",
    "\\qquad": " ", "\\thinspace": " ",
    "\\ldots": "…", "\\dots": "…", "\\in": "∈", "\\cup": "∪", "\\euro": "€", "\\pounds": "£", "\\percent": "%",
    "\\{": "{", "\\}": "}", "\\\\": " ", "\\big": "", "\\Big": "", "\\bigl": "", "\\bigr": "", "\\ne": "≠",
    "\\neq": "≠",
    "\\minus": "-", "\\equiv": "=", "\\simeq": "≈", "\\lbrack": "[", "\\rbrack": "]", "\\lbrace": "{",
    "\\rbrace": "}",
    "\\dollar": "$", "\\textdollar": "$", "\\text": "",
}  # fmt: skip
_LATEX_MARK = re.compile(
    # A command of letters ends where the letters do: '\\le' is not the beginning of '\\length'.
    "|".join(
        re.escape(k) + ("(?![a-zA-Z])" if k[-1].isalpha() else "") for k in sorted(_LATEX, key=len, reverse=True)
    )
)
_NUMPY = re.compile(r"^(?:np|numpy)\.(?:float|int|uint|str|bool)_?\d*\((.*)\)$", re.DOTALL)
_NUMPY_BOOLEAN = re.compile(r"\b(?:np|numpy)\.(True|False)_(?!\w)")
_HTML_TAG = re.compile(
    r"</?(?:b|strong|em|i|u|code|span|mark|big|small|font|p|div|center|kbd|samp|tt|var|answer|math|mn|mrow)(?:\s[^<>]{0,80})?>"
    r"|<br\s?/?>|<\|[^<>|\s]{1,40}\|>",
    re.IGNORECASE,
)
_RAISED = re.compile(r"<sup>\s?([^<>]{1,20}?)\s?</sup>", re.IGNORECASE)
# Emphasis around a part of the value: '**73** cars', '$73$ cars'; a power's '**' stands between digits.
_EMPHASIS = re.compile(r"(?<![\w*_`])(\*{1,3}|_{1,3}|`{1,3})(?=[^\s*_`])([^*`\n]{1,200}?)(?<=[^\s*_`])\1(?![\w*_`])")
_MATHS = re.compile(r"\$([^$]{1,200})\$(?=[\s%.,!]|$)|\\\((.{1,200}?)\\\)")
_ADORNMENT = re.compile(
    r"^[\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001faff\ufe0f\s]+|[\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001faff\ufe0f\s]+$"
)
_SCRIPTS = str.maketrans(
    {c: f"^{i}" for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}  # NFKC would make 10² the number 102
    | {c: f"_{i}" for i, c in enumerate("₀₁₂₃₄₅₆₇₈₉")}
    | dict.fromkeys("‐‑‒–—―−﹣－", "-")
    | dict.fromkeys('“”„«»"`', "")
    | dict.fromkeys("‘’", "'")
)
_UNSEEN = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u200e\u200f"))
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_SPACES = re.compile(r"[\s_]+")
_ARTICLE = re.compile(r"^(?:the|an|a) (?=\S)")


def plain(raw: str) -> str:
    r"""Return a value without what decorates it.

    Taken off, in pairs and in any nesting: ``**bold**``, code marks, quotes, ``$…$``, ``\boxed{}``, ``\text{}``,
    HTML emphasis, numpy's ``np.float64(…)``. LaTeX signs become their Unicode ones; ``\frac{a}{b}`` becomes ``a/b``.
    """
    text = raw.strip()
    if len(text) > _LONGEST:
        return text
    return _plain(text)


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    if not text.isascii():
        text = text.translate(_UNSEEN).strip()
        text = _ADORNMENT.sub("", text) or text
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _HTML_TAG.sub("", _RAISED.sub(r"^\1", text))
    for _ in range(8):
        stripped = _without_end(_strip_pair(text.strip()))
        if stripped == text:
            break
        text = stripped
    if "$" in text or "\\(" in text:
        text = _without_maths(text)
    if "\\" in text or "{,}" in text or "{.}" in text:
        text = _from_latex(text)
    if "np." in text or "numpy." in text:
        text = _NUMPY_BOOLEAN.sub(r"\1", _NUMPY.sub(r"\1", text))
    if any(mark in text for mark in "*_`"):
        text = _EMPHASIS.sub(r"\2", text)
    for _ in range(8):
        stripped = _without_end(_strip_pair(text.strip()))
        if stripped == text:
            break
        text = stripped
    return text


def _without_end(text: str) -> str:
    """Take the end of a sentence off what is emphasised or in parentheses as a whole: ``**`3`**.``, ``((3)).``."""
    if len(text) > 2 and text[-1] in ".!" and text[-2] in "*_`)":
        inside = _strip_pair(text[:-1])
        if inside != text[:-1] or text.startswith("(("):
            return text[:-1]
    return text


def _without_maths(text: str) -> str:
    r"""Take off ``$…$`` around a part, where the dollar signs can be no currency: ``$73$ cars``, ``$\\$29.00$``."""
    if "\\$" in text or text.count("$") == 2 or "\\(" in text:
        kept = text.replace("\\$", "\0")
        if kept.count("$") in {0, 2, 4}:
            return _MATHS.sub(lambda m: m[1] or m[2], kept).replace("\0", "\\$")
    return text


def _from_latex(text: str) -> str:
    text = _SET.sub("", text).replace("\\!", "")
    for _ in range(4):
        shorter = _WRAPPED.sub(r"\1", text)
        for fraction in (*_FRACTIONS, _OVER):
            shorter = fraction.sub(_as_fraction, shorter)
        shorter = _ALONE_OVER.sub(r"\1/\2", shorter)
        if shorter == text:
            break
        text = shorter
    text = _LATEX_MARK.sub(lambda m: _LATEX[m[0]], text)
    # "@x\\[5\\]": the closing bracket's own backslash is left at the end.
    return text[:-1] if text.endswith("\\") else text


def _as_fraction(match: re.Match[str]) -> str:
    over = f"{match[2].strip()}/{match[3].strip()}"
    return f"{match[1]} {over}" if match[1] else over


def _strip_pair(text: str) -> str:
    for left, right in _PAIRS:
        if len(text) >= len(left) + len(right) and text.startswith(left) and text.endswith(right):
            inner = text[len(left) : len(text) - len(right)]
            # '"a", "b"' is two quoted strings, not one.
            if left not in inner and right not in inner:
                return inner.strip()
    return text


def canonical_string(text: str) -> str:
    """Return the form in which strings are compared.

    Equal up to: case, Unicode form, quotes, whitespace (an underscore, or a hyphen between letters, counts as
    a space), kinds of dash, a leading article, a full stop or exclamation mark at the end, one pair of brackets.
    """
    return _canonical(text) if len(text) <= _LONGEST else " ".join(text.casefold().split())


@lru_cache(maxsize=8192)
def _canonical(text: str) -> str:
    text = unicodedata.normalize("NFKC", plain(text).translate(_SCRIPTS)).casefold()
    text = _SPACES.sub(" ", _BETWEEN_LETTERS.sub(" ", text)).strip()
    if text.startswith("'") and text.endswith("'") and len(text) > 2:
        text = text[1:-1]
    text = _unbracketed(_without_ending(text))
    return _ARTICLE.sub("", text)


def _without_ending(text: str) -> str:
    """Take off what ends a sentence: a full stop, exclamation marks."""
    bare = text.rstrip("!！ ")
    bare = bare[:-1].rstrip() if bare.endswith((".", "。")) and not bare.endswith("..") else bare
    return bare or text


def _unbracketed(text: str) -> str:
    """Take off brackets around a text without brackets or commas in it: ``(E)``, ``[['E']]``."""
    for _ in range(4):
        if not (len(text) > 2 and text[0] + text[-1] in {"()", "[]", "{}"}):
            return text
        inner = text[1:-1].strip()
        bare = inner.strip("()[]{}") if inner[:1] in "([{" else inner
        if not bare or any(c in bare for c in "()[]{},;"):
            return text
        text = _without_ending(inner.strip("'") or inner)
    return text


def undressed(raw: str) -> str:
    """Return a value as `plain` does, without the end of a sentence and one pair of parentheses around it."""
    text = _without_ending(plain(raw))
    if text[:1] == "(" and text[-1:] == ")" and not any(c in text[1:-1] for c in "(),;"):
        text = _without_ending(plain(text[1:-1]))
    return text
