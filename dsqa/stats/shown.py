"""What simulation has shown of each kind of interval that a page prints.

``shown.csv`` is written by ``python -m analysis.coverage``, from the same runs as docs/coverage.md: per kind and
number of questions the coverage of the default 95 % interval, as the mean over the studies simulated and as the
lowest of them. Where the mean is outside of [93, 97] %, an interval of that kind carries a note that says so, and
whatever prints the interval prints the note.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from dsqa.stats.interval import Interval

__all__ = ["KEPT", "Shown", "coverage_note", "shown", "with_coverage"]

KEPT = (93.0, 97.0)
"""Coverage in percent, on average over the studies simulated, that is kept without a note."""


@dataclass(frozen=True)
class Shown:
    """Coverage in percent of a 95 % interval at one number of questions: mean and lowest of the studies simulated."""

    questions: int
    mean: float
    lowest: float


@cache
def _table() -> dict[str, tuple[Shown, ...]]:
    text = files("dsqa.stats").joinpath("shown.csv").read_text(encoding="utf-8")
    found: dict[str, list[Shown]] = {}
    for row in csv.DictReader(text.splitlines()):
        line = Shown(int(row["questions"]), float(row["mean"]), float(row["lowest"]))
        found.setdefault(row["kind"], []).append(line)
    return {kind: tuple(sorted(lines, key=lambda line: line.questions)) for kind, lines in found.items()}


def shown(kind: str, questions: int) -> Shown | None:
    """Return what was shown at the largest number of questions simulated that is no more than `questions`.

    Fewer than any simulated takes the fewest; None where nothing was simulated of this kind.
    """
    lines = _table().get(kind, ())
    below = [line for line in lines if line.questions <= questions]
    return below[-1] if below else next(iter(lines), None)


def coverage_note(kind: str, questions: int) -> str:
    """Return what a reader must know of the coverage; empty where it keeps [93, 97] %.

    Examples
    --------
    >>> coverage_note("no such interval", 10)
    ''
    """
    line = shown(kind, questions)
    if line is None or KEPT[0] <= line.mean <= KEPT[1]:
        return ""
    if line.mean > KEPT[1]:
        return f"wide: a 95 % interval covers {line.mean:.0f} % with so few questions"
    return (
        f"too narrow: a 95 % interval covers {line.mean:.0f} % with so few questions "
        f"({line.lowest:.0f} % in the worst case tried)"
    )


def with_coverage(interval: Interval, kind: str, questions: int) -> Interval:
    """Return the interval, its note saying where its coverage is not what it promises."""
    note = coverage_note(kind, questions) if interval.available else ""
    if not note:
        return interval
    return replace(interval, note="; ".join(part for part in (interval.note, note) if part))
