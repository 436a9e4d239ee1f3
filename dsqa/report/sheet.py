"""The assignment sheet: every question on one line, for paper."""

from __future__ import annotations

from collections.abc import Mapping

from dsqa.report.advice import Advice
from dsqa.report.markdown import Column, Markdown, anchor, escape, span, table
from dsqa.report.page import Page, shorten
from dsqa.report.verdict import VERDICT_CLASSES, lead, verdict_mark
from dsqa.report.wording import count, interval, of, percent
from dsqa.stats import wilson

__all__ = ["assignment_sheet", "sheet_lead", "sheet_summary"]


def sheet_lead(page: Page) -> Markdown:
    """Return the overview's first paragraph, which refers to the sheet's own table here."""
    return Markdown(lead(page).replace("@tbl-verdicts", "@tbl-sheet"))


def assignment_sheet(page: Page, advice: Mapping[str, Advice]) -> Markdown:
    """Return a row per question: verdict, share of right runs, commonest wrong answer, ambiguity, cost, next step.

    Runs of all conditions are taken together, as students who use any of them are.

    Parameters
    ----------
    page
        The study.
    advice
        What `advise` gives for it.
    """
    rows = []
    for question in page.questions:
        found = advice[question.id]
        name = f"[**{escape(question.id)}**]{{#{anchor('q', question.id)}}} {escape(shorten(question.question, 90))}"
        rows.append([name, _verdicts(page, question.id), _right(found), _wrong(found), found.cost, found.next_step])
    columns = [
        Column("Question", width=28),
        Column("Verdict", width=17),
        Column("Right", "right", 14),
        Column("Commonest wrong answer", width=16),
        Column("Cost", "right", 9),
        Column("What to do", width=24),
    ]
    several = len(page.conditions) > 1
    caption = (
        "Right: the share of students to expect with the right answer if each asks once"
        + (", whichever of the conditions they use" if several else "")
        + "; runs, and the 95 % Wilson interval of the share"
        + (", which takes the runs of all conditions as alike" if several else "")
        + ". The share behind a wrong answer is of all runs."
    )
    return table(columns, rows, label="tbl-sheet", caption=caption, classes=("stack", "sheet"))


def sheet_summary(advice: Mapping[str, Advice]) -> Markdown:
    """Return which questions look ambiguous, in a sentence."""
    split = [(name, found.ambiguous) for name, found in advice.items() if found.ambiguous is not None]
    if not split:
        text = (
            "No question looks ambiguous: nowhere are the answers split between few that are given again and again."
        )
    else:
        listed = "; ".join(f"**{escape(name)}** ({text})" for name, text in split)
        text = f"{count(len(split), 'question')} may be read in more than one way: {listed}."
    return Markdown(text)


def _verdicts(page: Page, question_id: str) -> str:
    cells = page.cells[page.cells["question_id"] == question_id]
    counts: dict[tuple[str, bool], int] = {}
    for verdict, settled in zip(cells["verdict"].astype(str), cells["settled"].astype(bool), strict=True):
        key = (verdict, settled or verdict not in VERDICT_CLASSES)
        counts[key] = counts.get(key, 0) + 1
    marks = [
        verdict_mark(verdict, settled) + ("" if len(counts) == 1 else f" ({of(n, len(cells))})")
        for (verdict, settled), n in sorted(counts.items(), key=lambda item: -item[1])
    ]
    return " ".join(marks)


def _right(found: Advice) -> str:
    if not found.marked:
        return "–"
    bounds = wilson(found.right, found.marked)
    share = interval(bounds.low, bounds.high, as_percent=True)
    return f"{percent(found.right / found.marked)} {span(f'{of(found.right, found.marked)}, {share}', 'interval')}"


def _wrong(found: Advice) -> str:
    if found.wrong is None:
        return "–"
    return f"{found.wrong} {span(percent(found.wrong_runs / found.runs), 'interval')}"
