"""What a block's tag says: which language, output, or nothing that names a language."""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["Language", "language_of"]

Language = Literal["python", "shell", "output", "other", ""]

_PYTHON = re.compile(
    r"i?py(?:thon)?[-_ ]?v?[23]?(?:\.\d+)*|pycon|python[-_](?:repl|code|script|console|program)|pyconsole|jupyter"
    r"|jupyter-python|tool_code|sage|pandas|numpy|colab|notebook"
)
_SHELL = frozenset({"bash", "sh", "shell", "zsh", "powershell", "cmd", "bat", "shell-session", "terminal", "fish"})
_OUTPUT = frozenset(
    {
        "text", "txt", "output", "plaintext", "plain", "console", "out", "result", "results", "stdout", "csv", "tsv",
        "json", "jsonc", "json5", "none", "log", "markdown", "md", "latex", "tex", "math", "yaml", "yml",
        "xml", "html",
        "mermaid", "diff", "answer", "table", "data", "stderr", "traceback", "rst", "dot", "svg", "toml", "ini",
    }
)  # fmt: skip
_OTHER = frozenset(
    {
        "r", "rscript", "rmd", "sql", "mysql", "postgresql", "postgres", "sqlite", "tsql", "plsql", "bigquery", "js",
        "javascript", "jsx", "ts", "typescript", "tsx", "jl", "julia", "java", "c", "cpp", "c++", "cc", "h",
        "hpp", "cs",
        "csharp", "c#", "go", "golang", "rust", "rs", "ruby", "rb", "php", "perl", "pl", "swift", "kotlin", "kt",
        "scala", "matlab", "octave", "stata", "sas", "spss", "lua", "haskell", "hs", "fortran", "vb", "vba", "vbnet",
        "excel", "dax", "powerquery", "m", "css", "scss", "dockerfile", "docker", "makefile", "make", "cmake",
        "groovy",
        "clojure", "clj", "lisp", "scheme", "elixir", "erlang", "f#", "fsharp", "ocaml", "pascal", "prolog",
        "solidity",
        "assembly", "asm", "awk", "sed", "graphql", "sparql", "cypher", "cython", "mojo", "dart", "d", "nim", "zig",
        "stan", "jags", "bugs", "gnuplot", "wolfram", "mathematica", "maple", "q", "kdb", "apl", "cobol", "abap",
        "objective-c", "objc", "vue", "svelte", "terraform", "hcl", "proto", "protobuf", "regex",
    }
)  # fmt: skip
_ENDINGS = {"ipynb": "python", "py": "python", "pyw": "python"}


def language_of(tag: str) -> tuple[Language, str]:
    """Return what a tag says, and the name of another language; ("", "") for what names no language.

    ``python3.11``, ``python-3`` and ``main.py`` are Python; ``code``, ``script`` and ``solution`` name none.
    """
    tag = tag.strip().lower()
    if not tag:
        return "", ""
    if _PYTHON.fullmatch(tag):
        return "python", ""
    if tag in _SHELL:
        return "shell", ""
    if tag in _OUTPUT:
        return "output", ""
    if tag in _OTHER:
        return "other", tag
    stem, dot, ending = tag.rpartition(".")
    if dot and stem:
        return ("python", "") if ending in _ENDINGS else language_of(ending)
    return "", ""
