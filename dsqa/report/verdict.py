"""The answer first: which questions are stable and right, stable and wrong, unstable."""

from __future__ import annotations

import pandas as pd

from dsqa.report.markdown import Column, Markdown, escape, span, table
from dsqa.report.page import Page
from dsqa.report.wording import count, listing, number, percent
from dsqa.stats import UNPARSED, VERDICTS

__all__ = ["VERDICT_CLASSES", "hurry", "lead", "verdict_mark", "verdict_table"]

VERDICT_CLASSES = {"stable and right": "right", "stable and wrong": "wrong", "unstable": "unstable"}
"""Verdict → the class that colours it."""

_UNSETTLED = "?"
# A wrong answer is "the same" one if at least this share of a cell's runs gives it.
_ALIKE = 0.8
# More names or conditions than this are summed up.
_NAMED = 8
_CONDITIONS = 4


def verdict_mark(verdict: str, settled: bool) -> str:
    """Return a verdict as a coloured label; one that is not settled carries a question mark."""
    open_call = not settled and verdict in VERDICT_CLASSES
    label = escape(verdict) + (f" {_UNSETTLED}" if open_call else "")
    classes = ["verdict", VERDICT_CLASSES.get(verdict, "other"), *(["unsettled"] if open_call else [])]
    return span(label, *classes)


def lead(page: Page) -> Markdown:
    """Return the report's first paragraph: what was asked, and what came of it."""
    questions = len(page.questions)
    asked = (
        f"{_models(page)} {'was' if len(page.models) == 1 else 'were'} asked "
        f"{count(questions, 'data-science question')}, {_times(page)} each"
    )
    if len(page.conditions) > 1:
        asked += f" under each of {count(len(page.conditions), 'condition')}"
    sentences = [f"{asked}: {count(len(page.outcomes), 'run')} in all."]
    several = len(page.conditions) > 1
    for verdict in ("stable and right", "stable and wrong"):
        always = _everywhere(page, verdict)
        scope = " under every condition" if several else ""
        if always:
            verb = "is" if len(always) == 1 else "are"
            sentences.append(f"**{len(always)} of {questions} {verb} {verdict}{scope}**: {_links(page, always)}.")
        elif questions > 1:
            sentences.append(f"**None is {verdict}{scope}.**")
    shaky = [q.id for q in page.questions if "unstable" in _verdicts(page, q.id)]
    if shaky:
        where = " under at least one condition" if several else ""
        verb = "is" if len(shaky) == 1 else "are"
        sentences.append(f"**{len(shaky)} {verb} unstable{where}**: {_links(page, shaky)}.")
    elif questions > 1:
        sentences.append("None is unstable.")
    if (page.cells["verdict"] == "not known").all():
        sentences = [sentences[0], "**One run says nothing about stability**: ask each question at least twice."]
    return Markdown(" ".join(sentences))


def verdict_table(page: Page) -> Markdown:
    """Return the verdicts as a table: a row per condition, the questions under each verdict."""
    shown = [v for v in VERDICTS if v in VERDICT_CLASSES or (page.cells["verdict"] == v).any()]
    rows = []
    for condition, label in page.conditions.items():
        cells = page.cells[page.cells["condition_id"] == condition]
        row = [f"**{escape(label)}**"]
        for verdict in shown:
            hits = cells[cells["verdict"] == verdict]
            names = ", ".join(
                page.link(str(cell.question_id))
                + ("" if cell.settled or verdict not in VERDICT_CLASSES else _UNSETTLED)
                for cell in hits.itertuples()
            )
            classes = ("count", VERDICT_CLASSES.get(verdict, "other"), *(() if len(hits) else ("zero",)))
            row.append(span(str(len(hits)), *classes) + (f" {names}" if names else ""))
        rows.append(row)
    unsettled = _open_calls(page)
    caption = "Verdict per question and condition."
    if len(unsettled):
        caption += (
            f" {_UNSETTLED} marks {count(len(unsettled), 'verdict')} of {len(page.cells)} that "
            f"{'is' if len(unsettled) == 1 else 'are'} not settled: {_runs(unsettled)} "
            f"{'is' if _runs(unsettled) == '1 run' else 'are'} too few to tell."
        )
    elif not (page.cells["verdict"] == "not known").any():
        caption += f" All are settled, with {_runs(page.cells)} per question and condition."
    columns = [Column("Condition", width=14)]
    for verdict in shown:
        columns.append(Column(span(verdict.capitalize(), VERDICT_CLASSES.get(verdict, "other")), width=24))
    return table(columns, rows, label="tbl-verdicts", caption=caption, classes=("stack", "verdicts"))


def hurry(page: Page) -> Markdown:
    """Return what the verdicts mean for someone who reads one paragraph, as a list."""
    items = [_asked_once(page), *_wrong(page), *_unstable(page), *_heat(page), *_unsettled(page), *_lost(page)]
    return Markdown("\n".join(f"- {item}" for item in items))


def _asked_once(page: Page) -> str:
    mean = page.cells["accuracy"].mean()
    text = f"Someone who asks **once** gets a right result in **{percent(mean)}** of cases"
    if len(page.questions) > 1:
        text += ", averaged over the questions"
    means = {
        escape(label): page.cells.loc[page.cells["condition_id"] == key, "accuracy"].mean()
        for key, label in page.conditions.items()
    }
    if 1 < len(means) <= _CONDITIONS:
        text += f" ({'; '.join(f'{label}: {percent(share)}' for label, share in means.items())})"
    elif len(means) > _CONDITIONS:
        ranked = sorted(means.items(), key=lambda item: item[1])
        (low, least), (high, most) = ranked[0], ranked[-1]
        text += f" (from {percent(least)} with {low} to {percent(most)} with {high})"
    return text + "."


def _wrong(page: Page) -> list[str]:
    wrong = _somewhere(page, "stable and wrong")
    if not wrong:
        return []
    cells = page.cells[page.cells["verdict"] == "stable and wrong"]
    runs = int(cells["runs"].sum())
    right = round(float((cells["accuracy"] * cells["runs"]).sum()))
    items = [
        f"**Asking again does not help** with {_links(page, wrong)}: stable and wrong, "
        f"with {right:,} right among {count(runs, 'run')}."
    ]
    # The most frequent outcome, provided that an answer was read at all.
    alike = cells[(cells["modal_share"] >= _ALIKE) & (cells["modal_answer"] != UNPARSED)]
    names = list(dict.fromkeys(str(name) for name in alike["question_id"]))
    if names:
        items.append(
            f"With {_links(page, names)}, **the same wrong answer** comes back in {percent(_ALIKE)} of runs or more: "
            "that responses agree is no sign that they are right."
        )
    return items


def _unstable(page: Page) -> list[str]:
    shaky = _somewhere(page, "unstable")
    if not shaky:
        return []
    return [
        f"With {_links(page, shaky)}, **one response says little** about the model: how well it scores changes from "
        "one run to the next."
    ]


def _heat(page: Page) -> list[str]:
    """One sentence per model asked at several temperatures: mean instability at the lowest and the highest."""
    items = []
    for model in page.models:
        cells = page.cells[(page.cells["model"] == model) & page.cells["temperature"].notna()]
        means = cells.groupby("temperature")["instability"].mean().dropna().sort_index()
        if len(means) < 2:
            continue
        name = f" of {escape(model)}" if len(page.models) > 1 else ""
        items.append(
            f"Mean instability{name} is **{number(means.iloc[0])}** at temperature {means.index[0]:g} and "
            f"**{number(means.iloc[-1])}** at {means.index[-1]:g} "
            "(0: every run scores the same; 1: as spread as can be)."
        )
    return items


def _unsettled(page: Page) -> list[str]:
    unsettled = _open_calls(page)
    if unsettled.empty:
        return []
    verb = "is" if len(unsettled) == 1 else "are"
    return [
        f"**{len(unsettled)} of {count(len(page.cells), 'verdict')} {verb} not settled** with {_runs(unsettled)}: "
        "more runs could turn out otherwise. Read "
        f"{'it' if len(unsettled) == 1 else 'those'} as a first impression."
    ]


def _lost(page: Page) -> list[str]:
    statuses = page.outcomes["status"].value_counts()
    lost = {name: int(statuses.get(name, 0)) for name in ("truncated", "refused", "empty", "filtered", "failed")}
    lost = {name: n for name, n in lost.items() if n}
    if not lost:
        return []
    total = sum(lost.values())
    kinds = listing(f"{n:,} {name}" for name, n in lost.items())
    return [
        f"{total:,} of {count(len(page.outcomes), 'run')} came to no proper end ({kinds}); "
        f"{'it counts' if total == 1 else 'they count'} as not right, everywhere."
    ]


def _verdicts(page: Page, question_id: str) -> list[str]:
    return [str(v) for v in page.cells.loc[page.cells["question_id"] == question_id, "verdict"]]


def _everywhere(page: Page, verdict: str) -> list[str]:
    return [q.id for q in page.questions if set(_verdicts(page, q.id)) == {verdict}]


def _somewhere(page: Page, verdict: str) -> list[str]:
    return [q.id for q in page.questions if verdict in _verdicts(page, q.id)]


def _links(page: Page, ids: list[str]) -> str:
    if len(ids) <= _NAMED:
        return listing(page.link(name) for name in ids)
    shown = ", ".join(page.link(name) for name in ids[:_NAMED])
    return f"{shown} and {len(ids) - _NAMED} more (all in @tbl-verdicts)"


def _open_calls(page: Page) -> pd.DataFrame:
    """Return the cells that have a verdict which their runs do not settle."""
    cells = page.cells
    return cells[~cells["settled"].astype(bool) & cells["verdict"].isin(list(VERDICT_CLASSES))]


def _models(page: Page) -> str:
    return listing(f"**{escape(name)}**" for name in page.models)


def _times(page: Page) -> str:
    return "once" if page.runs_text == "1" else "twice" if page.runs_text == "2" else f"{page.runs_text} times"


def _runs(cells: pd.DataFrame) -> str:
    low, high = int(cells["runs"].min()), int(cells["runs"].max())
    return count(high, "run") if low == high else f"{low:,} to {high:,} runs"
