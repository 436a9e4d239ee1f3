"""The answer first: which questions are stable and right, stable and wrong, unstable."""

from __future__ import annotations

from functools import cache

import pandas as pd

from dsqa.report.markdown import Column, Markdown, escape, span, table
from dsqa.report.page import Page
from dsqa.report.wording import count, interval, listing, number, percent
from dsqa.stats import NOTABLE, SCORE_BOUNDS, UNPARSED, VERDICTS, unseen_bound
from dsqa.stats.sequential import instability_calls

__all__ = ["VERDICT_CLASSES", "hurry", "lead", "verdict_mark", "verdict_table"]

VERDICT_CLASSES = {"stable and right": "right", "stable and wrong": "wrong", "unstable": "unstable"}
"""Verdict → the class that colours it."""

_UNSETTLED = "?"
# A wrong answer is "the same" one if at least this share of a cell's runs gives it.
_ALIKE = 0.8
# More names or conditions than this are summed up.
_NAMED = 8
# From this share of runs on, runs cut or lost may have decided the verdicts.
_MANY = 0.1
_CONDITIONS = 4


def verdict_mark(verdict: str, settled: bool) -> str:
    """Return a verdict as a coloured label; one that is not settled carries a question mark."""
    open_call = not settled and verdict in VERDICT_CLASSES
    label = escape(verdict) + (f" {_UNSETTLED}" if open_call else "")
    classes = ["verdict", VERDICT_CLASSES.get(verdict, "other"), *(["unsettled"] if open_call else [])]
    return span(label, *classes)


def lead(page: Page) -> Markdown:
    """Return the report's first paragraph: what was asked, and what came of it."""
    questions, conditions, runs = len(page.questions), len(page.conditions), len(page.outcomes)
    asked = (
        f"{_models(page)} {'was' if len(page.models) == 1 else 'were'} asked "
        f"{count(questions, 'data-science question')}, {_times(page)} each"
    )
    if conditions > 1:
        asked += f" under each of {count(conditions, 'condition')}"
    asked += f": {count(runs, 'run')} in all"
    if (page.outcomes["status"] == "failed").all():
        return Markdown(f"{asked}. **No run got a reply**, so nothing here is about the model.")
    right, marked = int(page.outcomes["accuracy"].sum()), int(page.outcomes["accuracy"].notna().sum())
    if not marked:
        return Markdown(
            f"{asked}. **There is no ground truth**, so no run is called right or wrong and no score is given; what "
            "is said of words, tokens and similarity needs none."
        )
    sentences = [f"{asked}, **{right:,} right**."]
    if marked < runs:
        sentences = [f"{asked}, **{right:,} right** of the {marked:,} that have a ground truth."]
    if (page.cells["verdict"] == "not known").all():
        sentences.append("**One run says nothing about stability**: ask each question at least twice.")
        return Markdown(" ".join(sentences))
    if questions == 1:
        sentences += [_only(page, verdict) for verdict in VERDICT_CLASSES]
    else:
        sentences += [_of_all(page, verdict) for verdict in VERDICT_CLASSES]
    lost = page.cells[page.cells["verdict"] == "no answers"]
    if len(lost):
        silent = _links(page, _names(lost))
        sentences.append(f"**No reply at all came** for {silent}{_where(page, lost)}: nothing is known there.")
    unsettled = len(_open_calls(page))
    if unsettled:
        verdicts = int(page.cells["verdict"].isin(list(VERDICT_CLASSES)).sum())
        which = "The verdict is" if verdicts == 1 else f"{unsettled} of {verdicts} verdicts are"
        if 1 == unsettled < verdicts:
            which = f"1 of {verdicts} verdicts is"
        sentences.append(f"{which} not settled yet ({_UNSETTLED} in @tbl-verdicts).")
    return Markdown(" ".join(sentence for sentence in sentences if sentence))


def _of_all(page: Page, verdict: str) -> str:
    """Return how many questions have a verdict: under every condition, and under some only."""
    always = _everywhere(page, verdict)
    part = [name for name in _somewhere(page, verdict) if name not in always]
    total, conditions = len(page.questions), len(page.conditions)
    every = "" if conditions == 1 else f" under {'both' if conditions == 2 else f'all {conditions}'} conditions"
    some, them = ("one condition", "one") if conditions == 2 else ("some conditions", "some")
    if not always and not part:
        return f"**None is {verdict}**{'' if conditions == 1 else ' under any condition'}."
    if not always:
        return f"**{len(part)} of {total} {_are(part)} {verdict} under {some}**."
    text = f"**{len(always)} of {total} {_are(always)} {verdict}{every}**: {_links(page, always)}"
    return text + (f"; {len(part)} more under {them} of them." if part else ".")


def _only(page: Page, verdict: str) -> str:
    """Return under how many conditions the only question has a verdict."""
    hits, conditions = int((page.cells["verdict"] == verdict).sum()), len(page.conditions)
    if not hits:
        return ""
    if conditions == 1:
        return f"It is **{verdict}**."
    every = "both conditions" if conditions == 2 else f"all {conditions} conditions"
    return f"It is **{verdict}** under {every if hits == conditions else f'{hits} of {conditions} conditions'}."


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
            f" {_UNSETTLED} marks {len(unsettled)} of {count(len(page.cells), 'verdict')} that "
            f"{'is' if len(unsettled) == 1 else 'are'} not settled: {_runs(unsettled)} are too few to tell."
        )
    elif page.cells["verdict"].isin(list(VERDICT_CLASSES)).all():
        caption += f" All are settled, with {_runs(page.cells)} per question and condition."
    columns = [Column("Condition", width=14)]
    for verdict in shown:
        columns.append(Column(span(verdict.capitalize(), VERDICT_CLASSES.get(verdict, "other")), width=24))
    return table(columns, rows, label="tbl-verdicts", caption=caption, classes=("stack", "verdicts"))


def hurry(page: Page) -> Markdown:
    """Return what the verdicts mean for someone who reads one paragraph, as a list."""
    if (page.outcomes["status"] == "failed").all():
        return Markdown("\n".join(f"- {item}" for item in _lost(page)))
    items = [_asked_once(page), *_wrong(page), *_unstable(page), *_heat(page), *_unsettled(page), *_lost(page)]
    return Markdown("\n".join(f"- {item}" for item in items))


def _asked_once(page: Page) -> str:
    if page.cells["accuracy"].isna().all():
        return "Whether someone who asks **once** gets a right result is not known: there is no ground truth."
    text = f"Someone who asks **once** gets a right result in **{percent(page.cells['accuracy'].mean())}** of cases"
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
    if len(page.cells) == 1:
        cell = page.cells.iloc[0]
        bounds = interval(cell["accuracy_low"], cell["accuracy_high"], as_percent=True)
        return f"{text}, as far as {_runs(page.cells)} can tell: 95 % interval {bounds}."
    if len(page.questions) == 1:
        return text + "."
    by_question = page.cells.groupby("question_id", sort=False)["accuracy"].mean()
    least, most = by_question.min(), by_question.max()
    if least == most:
        return text + ", whichever question it is."
    return text + f". That is an average: question by question it goes from {percent(least)} to {percent(most)}."


def _wrong(page: Page) -> list[str]:
    cells = page.cells[page.cells["verdict"] == "stable and wrong"]
    wrong = _names(cells)
    if not wrong:
        return []
    runs = int(cells["runs"].sum())
    right = round(float((cells["accuracy"] * cells["runs"]).sum()))
    items = [
        f"**Asking again hardly helps** with {_links(page, wrong)}{_where(page, cells)}: stable and wrong, "
        f"{right:,} of {count(runs, 'run')} right."
    ]
    # The most frequent outcome, provided that an answer was read at all.
    alike = _names(cells[(cells["modal_share"] >= _ALIKE) & (cells["modal_answer"] != UNPARSED)])
    if alike:
        items.append(
            f"With {_links(page, alike)}, **the same wrong answer** comes back in {percent(_ALIKE)} of runs or more: "
            "that responses agree is no sign that they are right."
        )
    return items


def _unstable(page: Page) -> list[str]:
    """Two kinds: the result changes, or none is right and only the rest of the score changes."""
    cells = page.cells[page.cells["verdict"] == "unstable"]
    items = []
    changing, never = cells[cells["accuracy"] > 0], cells[cells["accuracy"] == 0]
    if len(changing):
        items.append(
            f"With {_links(page, _names(changing))}{_where(page, changing)}, **one response says little**: how well "
            "it scores changes from one run to the next."
        )
    if len(never):
        items.append(
            f"With {_links(page, _names(never))}{_where(page, never)}, **no run is right**; what changes is only "
            f"{_changes(page, never)}."
        )
    return items


def _changes(page: Page, cells: pd.DataFrame) -> str:
    """Return which parts of the score change within cells that have no right run."""
    runs = page.outcomes.merge(cells[["question_id", "condition_id"]].astype("string"))
    spread = runs.groupby(["question_id", "condition_id"])[["completion", "executability"]].nunique() > 1
    parts = {"completion": "whether a response comes to a proper end", "executability": "whether there is code"}
    return listing((text for name, text in parts.items() if spread[name].any()), "or") or "the score"


def _heat(page: Page) -> list[str]:
    """One sentence per model asked at several temperatures: instability at the lowest and the highest."""
    items = []
    for model in page.models:
        cells = page.cells[(page.cells["model"] == model) & page.cells["temperature"].notna()]
        means = cells.groupby("temperature")[["instability", "accuracy"]].mean().dropna().sort_index()
        if len(means) < 2:
            continue
        name = f" of {escape(model)}" if len(page.models) > 1 else ""
        low, high = means.iloc[0], means.iloc[-1]
        items.append(
            f"Mean instability{name} is **{number(low['instability'])}** at temperature {means.index[0]:g} "
            f"({percent(low['accuracy'])} right) and **{number(high['instability'])}** at {means.index[-1]:g} "
            f"({percent(high['accuracy'])} right)."
        )
    if items:
        items[-1] += " 0 is steady, not good; 1 is as spread as can be."
    return items


def _unsettled(page: Page) -> list[str]:
    unsettled = _open_calls(page)
    if unsettled.empty:
        return []
    one = len(unsettled) == 1
    text = (
        f"**{len(unsettled)} of {count(len(page.cells), 'verdict')} {'is' if one else 'are'} not settled** with "
        f"{_runs(unsettled)}: read {'it' if one else 'those'} as a first impression. To settle more, raise "
        f"`{'runs' if page.stop is None else 'max_runs'}` and run the study again; recorded runs are kept."
    )
    enough = _enough(sequential=page.stop is not None)
    if int(unsettled["runs"].max()) < enough:
        text += f" Even a question with the full score in every run takes {enough} runs to be called stable for sure."
    return [text]


@cache
def _enough(*, sequential: bool) -> int:
    """Return how many runs, all with the full score, settle that a cell is stable."""
    runs = 2
    if sequential:
        looks = range(1, 1000)
        return looks[int((instability_calls([[SCORE_BOUNDS[1]] * len(looks)], looks)[0] != 0).argmax())]
    while unseen_bound([SCORE_BOUNDS[1]] * runs) >= NOTABLE:
        runs += 1
    return runs


def _lost(page: Page) -> list[str]:
    statuses = page.outcomes["status"].value_counts()
    lost = {name: int(statuses.get(name, 0)) for name in ("truncated", "refused", "empty", "filtered", "failed")}
    lost = {name: n for name, n in lost.items() if n}
    runs = len(page.outcomes)
    items = []
    if lost:
        total = sum(lost.values())
        kinds = listing(f"{n:,} {name}" for name, n in lost.items())
        text = (
            f"{total:,} of {count(runs, 'run')} came to no proper end ({kinds}); "
            f"{'it stays' if total == 1 else 'they stay'} in every denominator."
        )
        if lost.get("truncated", 0) >= _MANY * runs:
            text += " **Many were cut at the token limit**: a higher `max_tokens` may change the picture."
        if lost.get("failed", 0) >= _MANY * runs:
            text += " **Many failed without a reply**, which says nothing about the model: run the study again."
        items.append(text)
    # Failed and empty runs hold nothing to read.
    read = page.outcomes[~page.outcomes["status"].isin(["failed", "empty"])]
    unread = int((read["answer_status"] == "unparsed").sum())
    if unread:
        items.append(
            f"In {unread:,} of {count(len(read), 'reply', 'replies')} no answer was found in the form that was asked "
            f"for; {'it counts' if unread == 1 else 'they count'} as not right."
        )
    return items


def _verdicts(page: Page, question_id: str) -> list[str]:
    return [str(v) for v in page.cells.loc[page.cells["question_id"] == question_id, "verdict"]]


def _everywhere(page: Page, verdict: str) -> list[str]:
    return [q.id for q in page.questions if set(_verdicts(page, q.id)) == {verdict}]


def _somewhere(page: Page, verdict: str) -> list[str]:
    return [q.id for q in page.questions if verdict in _verdicts(page, q.id)]


def _names(cells: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(str(name) for name in cells["question_id"]))


def _where(page: Page, cells: pd.DataFrame) -> str:
    """Return under which condition, where there are several and it is not all."""
    conditions = cells["condition_id"].nunique()
    if len(page.conditions) == 1 or len(cells) == len(page.conditions) * cells["question_id"].nunique():
        return ""
    if conditions == 1:
        return f" ({escape(page.conditions[str(cells['condition_id'].iloc[0])])})"
    # A long list refers there already.
    return " (conditions: see @tbl-verdicts)" if cells["question_id"].nunique() <= _NAMED else ""


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


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
