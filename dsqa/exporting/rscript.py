"""The R script that reads the outcome table with the right types: one template, for one study or for any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from dsqa.exporting.tidy import FACTORS, KNOWN_LEVELS
from dsqa.outcomes import COLUMNS

__all__ = ["r_script", "r_type"]

_TYPES = {"string": "character", "Int64": "integer", "Float64": "numeric", "boolean": "logical"}
_WIDTH = 100

_GENERAL = (
    "#   Rscript analysis/read_study.R TABLE     TABLE: outcomes.csv, outcomes.parquet, or a study's folder\n"
    '#   source("analysis/read_study.R"); runs <- read_runs("runs/demo/export/outcomes.csv")'
)
_GENERAL_MAIN = """if (!interactive() && sys.nframe() == 0L) {
  arguments <- commandArgs(trailingOnly = TRUE)
  if (length(arguments) != 1) stop("usage: Rscript read_study.R TABLE", call. = FALSE)
  show_first_model(read_runs(arguments[1]))
}"""
_BESIDE = "# Written by 'dsqa export' beside outcomes.csv, which it reads:  Rscript read_outcomes.R"
_BESIDE_MAIN = """# Where this script is: started by Rscript, by source(), or line by line (then the working folder).
here <- local({
  started <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
  sourced <- if (sys.nframe() > 0) sys.frame(1)$ofile
  dirname(c(sourced, started, file.path(getwd(), "."))[1])
})
runs <- read_runs(file.path(here, "outcomes.csv"))
model <- show_first_model(runs)"""


def r_type(name: str, dtype: str) -> str:
    """Return the R type of an outcome column: factor, character, integer, numeric or logical."""
    return "factor" if name in FACTORS else _TYPES[dtype]


def r_script(levels: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the script.

    Parameters
    ----------
    levels
        Factor column → its levels in order, of one study: the script then reads the ``outcomes.csv`` beside it. None:
        the general script, which takes a path.
    """
    template = files("dsqa.exporting").joinpath("read_study.R").read_text(encoding="utf-8")
    known = KNOWN_LEVELS if levels is None else levels
    parts = {
        "intro": _GENERAL if levels is None else _BESIDE,
        "types": ",\n".join(f"  {column.name} = {_quoted(r_type(column.name, column.dtype))}" for column in COLUMNS),
        "levels": ",\n".join(f"  {name} = {_vector(values)}" for name, values in known.items()),
        "main": _GENERAL_MAIN if levels is None else _BESIDE_MAIN,
    }
    for name, text in parts.items():
        template = template.replace(f"# @{name}\n", text + "\n")
    return template


def _quoted(text: str) -> str:
    # Quotes and backslashes as R has them; R strings hold no NUL, and control characters are escaped.
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "")
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in plain) + '"'


def _vector(values: Iterable[str]) -> str:
    lines, line = [], "   "
    items = [_quoted(value) for value in values]
    if not items:
        return "character()"
    for item in items:
        if len(line) + len(item) + 2 > _WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {item},"
    lines.append(line)
    return "c(\n" + "\n".join(lines).rstrip(",") + "\n  )"
