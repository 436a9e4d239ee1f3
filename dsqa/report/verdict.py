"""The answer first: which questions are stable and right, stable and wrong, unstable, or not read."""

from __future__ import annotations

import pandas as pd

from dsqa.outcomes import unread_matters, unread_runs
from dsqa.report.markdown import Column, Markdown, escape, span, table
from dsqa.report.page import Page
from dsqa.report.statement import Fact, Statement, joined
from dsqa.report.wording import count, listing, percent
from dsqa.stats import CALLS, VERDICTS

__all__ = [
    "CONDITIONS",
    "MANY",
    "VERDICT_CLASSES",
    "lead",
    "links",
    "names_of",
    "open_calls",
    "runs_of",
    "unread_counts",
    "verdict_mark",
    "verdict_table",
    "where",
]

VERDICT_CLASSES = {"stable and right": "right", "stable and wrong": "wrong", "unstable": "unstable"}
"""Call → the class that colours it."""
MANY = 0.1
"""From this share of runs on, runs that were cut or lost may have decided the verdicts."""

_UNSETTLED = "?"
# More names than this are summed up.
_NAMED = 8
CONDITIONS = 4
"""More conditions than this are summed up."""


def verdict_mark(verdict: str, settled: bool) -> str:
    """Return a verdict as a coloured label; one that is not settled carries a question mark."""
    open_call = not settled and verdict in CALLS
    label = escape(verdict) + (f" {_UNSETTLED}" if open_call else "")
    classes = ["verdict", VERDICT_CLASSES.get(verdict, "other"), *(["unsettled"] if open_call else [])]
    return span(label, *classes)


def lead(page: Page) -> Statement:
    """Return the report's first paragraph: what was asked of whom, and what came of it."""
    asked = _asked(page)
    if (page.outcomes["status"] == "failed").all():
        return joined([asked, Statement("**No run got a reply**, so nothing here is about the model.")], ". ")
    right, marked = int(page.outcomes["accuracy"].sum()), int(page.outcomes["accuracy"].notna().sum())
    if not marked:
        text = (
            "**There is no ground truth**, so no run is called right or wrong and no score is given; what is said of "
            "words, tokens and similarity needs none."
        )
        return joined([asked, Statement(text)], ". ")
    facts: dict[str, Fact] = {"right": right}
    text = f"**{right:,} right**."
    if marked < len(page.outcomes):
        text = f"**{right:,} right** of the {marked:,} that have a ground truth."
        facts["marked"] = marked
    sentences = [_not_read(page), joined([asked, Statement(text, facts)], ", ")]
    if (page.cells["verdict"] == "not known").all():
        sentences.append(
            Statement("**One run says nothing about stability**: ask each question at least twice.")
            if (page.cells["runs"] == 1).all()
            else Statement("**No cell has two runs that can be compared**, so none has a verdict.")
        )
        return joined(sentences)
    say = _only if len(page.questions) == 1 else _of_all
    sentences += [say(page, verdict) for verdict in CALLS]
    if (page.cells["verdict"] == "not read").any():
        sentences.append(say(page, "not read"))
    lost = page.cells[page.cells["verdict"] == "no answers"]
    if len(lost):
        silent = links(page, names_of(lost))
        sentences.append(
            Statement(f"**No reply at all came** for {silent}{where(page, lost)}: nothing is known there.")
        )
    sentences.append(_unsettled(page))
    return joined(sentences)


def _asked(page: Page) -> Statement:
    """Return what was asked of whom: counts that hold whether or not everything was asked of everyone."""
    questions, conditions, runs = len(page.questions), len(page.conditions), len(page.outcomes)
    facts: dict[str, Fact] = {
        "questions": questions,
        "conditions": conditions,
        "runs": runs,
        "fewest runs of a cell": int(page.cells["runs"].min()),
        "most runs of a cell": int(page.cells["runs"].max()),
    }
    who = f"{_models(page)} {'was' if len(page.models) == 1 else 'were'} asked"
    kinds = count(questions, "data-science question")
    if len(page.cells) == questions * conditions:
        text = f"{who} {kinds}, {_times(page)} each"
        if conditions > 1:
            text += f" under each of {count(conditions, 'condition')}"
        return Statement(f"{text}: {count(runs, 'run')} in all", facts)
    by_condition = page.cells.groupby("condition_id")["question_id"].nunique()
    everywhere = int((page.cells.groupby("question_id")["condition_id"].nunique() == conditions).sum())
    facts["questions asked under every condition"] = everywhere
    told = [(escape(label), int(by_condition.get(key, 0))) for key, label in page.conditions.items()]
    if conditions <= CONDITIONS:
        facts |= {f"questions asked under {key}": int(by_condition.get(key, 0)) for key in page.conditions}
        each = listing(f"{n:,} under {label}" for label, n in told)
    else:
        low, high = min(n for _, n in told), max(n for _, n in told)
        facts |= {"fewest questions of a condition": low, "most questions of a condition": high}
        each = f"{low:,} to {high:,} under each of {conditions} conditions"
    every = "both" if conditions == 2 else f"all {conditions}"
    text = (
        f"{who} {kinds}, **not all of them the same**: {each}, {everywhere:,} of them under {every}; {_times(page)} "
        f"each, {count(runs, 'run')} in all"
    )
    return Statement(text, facts)


def unread_counts(page: Page) -> tuple[int, int]:
    """Return how many replies there are that should hold an answer, and in how many of them none could be read."""
    replies = (page.outcomes["accuracy"].notna() & (page.outcomes["status"] != "failed")).sum()
    return int(replies), len(unread_runs(page.outcomes))


def _not_read(page: Page) -> Statement:
    """Return the sentence that opens the page where so much could not be read that it decides what follows."""
    if not unread_matters(page.outcomes):
        return Statement()
    replies, unread = unread_counts(page)
    marked, right = int(page.outcomes["accuracy"].notna().sum()), int(page.outcomes["accuracy"].sum())
    low, high = right / marked, (right + unread) / marked
    which = "the only reply" if replies == 1 else f"{unread:,} of {replies:,} replies"
    counts = "It counts" if unread == 1 else "They count"
    text = (
        f"**In {which} no answer could be read.** {counts} as not right without being called wrong: {percent(low)} "
        f"of runs are right if none of these is, {percent(high)} if all are."
    )
    facts: dict[str, Fact] = {"unread": unread, "replies": replies, "share right": low, "share right if read": high}
    return Statement(text, facts)


def _of_all(page: Page, verdict: str) -> Statement:
    """Return how many questions have a verdict: wherever they were asked, and under some conditions only."""
    always, part = _with_verdict(page, verdict)
    total, conditions = len(page.questions), len(page.conditions)
    complete = len(page.cells) == total * conditions
    every = "" if conditions == 1 else f" under {'both' if conditions == 2 else f'all {conditions}'} conditions"
    every = every if complete else " under every condition they were asked under"
    some, them = ("one condition", "one") if conditions == 2 else ("some conditions", "some")
    facts: dict[str, Fact] = {"questions": total, "conditions": conditions}
    facts |= {f"questions always {verdict}": len(always), f"questions in part {verdict}": len(part)}
    if not always and not part:
        return Statement(f"**None is {verdict}**{'' if conditions == 1 else ' under any condition'}.", facts)
    if not always:
        return Statement(f"**{len(part)} of {total} {_are(part)} {verdict} under {some}**.", facts)
    text = f"**{len(always)} of {total} {_are(always)} {verdict}{every}**: {links(page, always)}"
    return Statement(text + (f"; {len(part)} more under {them} of them." if part else "."), facts)


def _only(page: Page, verdict: str) -> Statement:
    """Return under how many conditions the only question has a verdict."""
    hits, conditions = int((page.cells["verdict"] == verdict).sum()), len(page.conditions)
    if not hits:
        return Statement()
    facts: dict[str, Fact] = {"conditions": conditions, f"cells {verdict}": hits}
    if conditions == 1:
        return Statement(f"It is **{verdict}**.", facts)
    every = "both conditions" if conditions == 2 else f"all {conditions} conditions"
    under = every if hits == conditions else f"{hits} of {conditions} conditions"
    return Statement(f"It is **{verdict}** under {under}.", facts)


def _unsettled(page: Page) -> Statement:
    unsettled, calls = len(open_calls(page)), int(page.cells["verdict"].isin(CALLS).sum())
    if not unsettled:
        return Statement()
    which = "The verdict is" if calls == 1 else f"{unsettled:,} of {calls:,} verdicts are"
    if 1 == unsettled < calls:
        which = f"1 of {calls:,} verdicts is"
    text = f"{which} not settled yet ({_UNSETTLED} in @tbl-verdicts)."
    return Statement(text, {"verdicts not settled": unsettled, "verdicts": calls})


def verdict_table(page: Page) -> Markdown:
    """Return the verdicts as a table: a row per condition, the questions under each verdict."""
    shown = [v for v in VERDICTS if v in CALLS or (page.cells["verdict"] == v).any()]
    rows = []
    for condition, label in page.conditions.items():
        cells = page.cells[page.cells["condition_id"] == condition]
        row = [f"**{escape(label)}**"]
        for verdict in shown:
            hits = cells[cells["verdict"] == verdict]
            names = ", ".join(
                page.link(str(cell.question_id)) + ("" if cell.settled or verdict not in CALLS else _UNSETTLED)
                for cell in hits.itertuples()
            )
            classes = ("count", VERDICT_CLASSES.get(verdict, "other"), *(() if len(hits) else ("zero",)))
            row.append(span(str(len(hits)), *classes) + (f" {names}" if names else ""))
        rows.append(row)
    unsettled = open_calls(page)
    calls = int(page.cells["verdict"].isin(CALLS).sum())
    caption = "Verdict per question and condition."
    if len(unsettled):
        caption += (
            f" {_UNSETTLED} marks {len(unsettled):,} of {count(calls, 'verdict')} that "
            f"{'is' if len(unsettled) == 1 else 'are'} not settled: {runs_of(unsettled)} are too few to tell."
        )
    elif calls == len(page.cells):
        caption += f" All are settled, with {runs_of(page.cells)} per question and condition."
    columns = [Column("Condition", width=14)]
    for verdict in shown:
        columns.append(Column(span(verdict.capitalize(), VERDICT_CLASSES.get(verdict, "other")), width=24))
    return table(columns, rows, label="tbl-verdicts", caption=caption, classes=("stack", "verdicts"))


def _with_verdict(page: Page, verdict: str) -> tuple[list[str], list[str]]:
    """Return the questions that have a verdict wherever they were asked, and those that have it somewhere only."""
    found: dict[str, set[bool]] = {}
    for question, given in zip(page.cells["question_id"].astype(str), page.cells["verdict"].astype(str), strict=True):
        found.setdefault(question, set()).add(given == verdict)
    everywhere = [q.id for q in page.questions if found[q.id] == {True}]
    return everywhere, [q.id for q in page.questions if found[q.id] == {True, False}]


def names_of(cells: pd.DataFrame) -> list[str]:
    """Return the questions of cells, in order, each once."""
    return list(dict.fromkeys(str(name) for name in cells["question_id"]))


def where(page: Page, cells: pd.DataFrame) -> str:
    """Return under which condition cells are, where it is not every one that they were asked under."""
    conditions = cells["condition_id"].nunique()
    if len(page.conditions) == 1 or len(cells) == page.cells["question_id"].isin(cells["question_id"]).sum():
        return ""
    if conditions == 1:
        return f" ({escape(page.conditions[str(cells['condition_id'].iloc[0])])})"
    # A long list refers there already.
    return " (conditions: see @tbl-verdicts)" if cells["question_id"].nunique() <= _NAMED else ""


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def links(page: Page, ids: list[str]) -> str:
    """Return links to the cards of questions, a long list cut."""
    if len(ids) <= _NAMED:
        return listing(page.link(name) for name in ids)
    shown = ", ".join(page.link(name) for name in ids[:_NAMED])
    return f"{shown} and {len(ids) - _NAMED} more (all in @tbl-verdicts)"


def open_calls(page: Page) -> pd.DataFrame:
    """Return the cells that have a call which their runs do not settle."""
    cells = page.cells
    return cells[~cells["settled"].astype(bool) & cells["verdict"].isin(CALLS)]


def _models(page: Page) -> str:
    return listing(f"**{escape(name)}**" for name in page.models)


def _times(page: Page) -> str:
    return "once" if page.runs_text == "1" else "twice" if page.runs_text == "2" else f"{page.runs_text} times"


def runs_of(cells: pd.DataFrame) -> str:
    """Return how many runs cells have: ``10 runs``, or ``8 to 10 runs``."""
    low, high = int(cells["runs"].min()), int(cells["runs"].max())
    return count(high, "run") if low == high else f"{low:,} to {high:,} runs"
