r"""Marks around a value taken off: bold, code, quotes, LaTeX, HTML; and strings in canonical form."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

__all__ = ["canonical_string", "plain"]

_LONGEST = 2000  # beyond this a value is taken as it is: no answer of a question is that long
_PAIRS = (
    ("**", "**"), ("__", "__"), ("*", "*"), ("```", "```"), ("`", "`"), ("$$", "$$"), ("$", "$"),
    ("\\(", "\\)"), ("\\[", "\\]"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"), ("„", "“"),
)  # fmt: skip
_WRAPPED = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|operatorname|boxed|emph|texttt)\s*\{([^{}]{0,500})\}"
)
_FRACTION = re.compile(r"(\d?)\s*\\[dt]?frac\s*\{\s*([^{}]{1,40})\}\s*\{\s*([^{}]{1,40})\}")
_LATEX = {
    "\\times": "×", "\\cdot": "×", "\\pm": "±", "\\infty": "∞", "\\approx": "≈", "\\sim": "~", "\\leq": "≤",
    "\\le": "≤", "\\geq": "≥", "\\ge": "≥", "\\lt": "<", "\\gt": ">", "\\left": "", "\\right": "", "{,}": ",",
    "\\,": "\u2009", "\\;": " ", "\\:": " ", "\\!": "", "\\ ": " ", "\\%": "%", "\\$": "$", "\\_": "_", "\\&": "&",
    "\\#": "#", "\\degree": "°",
}  # fmt: skip
_LATEX_MARK = re.compile("|".join(re.escape(k) for k in sorted(_LATEX, key=len, reverse=True)))
_NUMPY = re.compile(r"^(?:np|numpy)\.(?:float|int|uint|str|bool)_?\d*\((.*)\)$", re.DOTALL)
_NUMPY_BOOLEAN = re.compile(r"\b(?:np|numpy)\.(True|False)_(?!\w)")
_HTML_TAG = re.compile(r"</?(?:b|strong|em|i|u|code|span|mark)>", re.IGNORECASE)
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
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _HTML_TAG.sub("", text)
    if "\\" in text or "{,}" in text:
        text = _from_latex(text)
    if "np." in text or "numpy." in text:
        text = _NUMPY_BOOLEAN.sub(r"\1", _NUMPY.sub(r"\1", text))
    for _ in range(8):
        stripped = _strip_pair(text.strip())
        if stripped == text:
            break
        text = stripped
    return text


def _from_latex(text: str) -> str:
    for _ in range(4):
        shorter = _WRAPPED.sub(r"\1", text)
        shorter = _FRACTION.sub(
            lambda m: f"{m[1]} {m[2]}/{m[3]}" if m[1] else f"{m[2].strip()}/{m[3].strip()}", shorter
        )
        if shorter == text:
            break
        text = shorter
    text = _LATEX_MARK.sub(lambda m: _LATEX[m[0]], text)
    # "@x\[5\]": the closing bracket's own backslash is left at the end.
    return text[:-1] if text.endswith("\\") else text


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
    a space), kinds of dash, a leading article, a full stop at the end.
    """
    return _canonical(text) if len(text) <= _LONGEST else " ".join(text.casefold().split())


@lru_cache(maxsize=8192)
def _canonical(text: str) -> str:
    text = unicodedata.normalize("NFKC", plain(text).translate(_SCRIPTS)).casefold()
    text = _SPACES.sub(" ", _BETWEEN_LETTERS.sub(" ", text)).strip()
    if text.startswith("'") and text.endswith("'") and len(text) > 2:
        text = text[1:-1]
    text = _ARTICLE.sub("", text)
    return text[:-1].rstrip() if text.endswith(".") and len(text) > 1 else text
