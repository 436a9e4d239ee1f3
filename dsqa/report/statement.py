"""Sentences with the numbers they state, so that each number can be worked out again by other code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dsqa.report.markdown import Markdown

__all__ = ["Fact", "Statement", "joined"]

Fact = int | float
"""A number as it was worked out, before it was rounded for print."""


class Statement(Markdown):
    """Markdown that says something of a study, and the numbers in it by name.

    Parameters
    ----------
    text
        Markdown.
    facts
        Name → number. Every number that the text states is one of them, ids and labels apart.

    Attributes
    ----------
    facts
        As given.
    """

    facts: dict[str, Fact]

    def __new__(cls, text: str = "", facts: Mapping[str, Fact] | None = None) -> Statement:  # noqa: D102
        made = super().__new__(cls, text)
        made.facts = dict(facts or {})
        return made


def joined(statements: Iterable[Statement], between: str = " ", before: str = "") -> Statement:
    """Return statements one after another, without the empty ones, and all their facts.

    Raises
    ------
    ValueError
        Two of them give one name to different numbers.
    """
    told = [statement for statement in statements if statement]
    facts: dict[str, Fact] = {}
    for statement in told:
        for name, value in statement.facts.items():
            if facts.setdefault(name, value) != value:
                raise ValueError(f"'{name}' is both {facts[name]} and {value}")
    return Statement(between.join(before + statement for statement in told), facts)
