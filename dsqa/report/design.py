"""Whether the study's design is complete, on the page: what is missing, what that biases, what to use instead."""

from __future__ import annotations

from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.stats.completeness import Completeness, check_design

__all__ = ["design_note", "design_of"]


def design_of(page: Page) -> Completeness:
    """Return what is incomplete about the study's design."""
    return check_design(page.outcomes, seed=page.seed, sequential=page.stop is not None)


def design_note(page: Page, *families: str) -> Markdown:
    """Return a callout on what is incomplete about the design; nothing where nothing is.

    Parameters
    ----------
    page
        The study.
    families
        Name only these families of estimators (see `dsqa.stats.design_biases`), and say nothing where none of them
        is biased; all of them by default.
    """
    design = design_of(page)
    biases = design.of(*families) if families else design.biases
    if design.complete or (families and not biases):
        return Markdown("")
    if not biases:
        return Markdown(f"*{escape(design.text)}*\n")
    lines = ['::: {.callout-warning title="The design is incomplete"}', *(escape(f.text) for f in design.findings)]
    body = "\n\n".join(lines)
    by_family: dict[str, list[str]] = {}
    for bias in biases:
        told = by_family.setdefault(bias.estimators, [])
        told.append(f"{escape(bias.reason)}. *Use instead:* {escape(bias.instead)}.")
    items = [
        f"- **{escape(name[0].upper() + name[1:])}**: {' Also: '.join(told)}" for name, told in by_family.items()
    ]
    return Markdown(f"{body}\n\nWhat that biases, and what to use instead:\n\n" + "\n".join(items) + "\n\n:::\n")
