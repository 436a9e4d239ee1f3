"""The assignment sheet: every question on one line, for paper."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dsqa.prices import format_money
from dsqa.report.advice import Advice
from dsqa.report.markdown import Column, Markdown, anchor, escape, span, table
from dsqa.report.meaning import asked_once
from dsqa.report.page import Page, shorten
from dsqa.report.statement import Fact, Statement, joined
from dsqa.report.verdict import CONDITIONS, lead, verdict_mark
from dsqa.report.wording import count, interval, listing, of, percent
from dsqa.stats import CALLS, accuracy_groups, wilson

__all__ = ["assignment_sheet", "sheet_lead", "sheet_summary"]


def sheet_lead(page: Page) -> Statement:
    """Return what opens the sheet: what students get, which model is better, what it costs, and the verdicts."""
    first = lead(page)
    first = Statement(first.replace("@tbl-verdicts", "@tbl-sheet"), first.facts)
    if (page.outcomes["status"] == "failed").all() or page.outcomes["accuracy"].isna().all():
        return first
    return joined([first, joined([asked_once(page), _better(page), _cost(page)])], "\n\n")


def _better(page: Page) -> Statement:
    """Return which model is right more often on the questions that all were asked, as far as these runs can tell."""
    marked = page.outcomes[page.outcomes["accuracy"].notna()]
    models = [name for name in page.models if (marked["model"] == name).any()]
    if len(models) < 2:
        return Statement()
    asked = marked.groupby("question_id")["model"].nunique()
    common = marked[marked["question_id"].isin(asked.index[asked == len(models)])]
    questions = int(common["question_id"].nunique())
    if not questions:
        return Statement("No question was asked of every model, so the models cannot be compared.")
    # The interval for these questions; that for others is not shown here.
    table_ = accuracy_groups(common, ["model"], seed=page.seed, resamples=99).set_index("model")
    ranked = table_["accuracy"].sort_values(ascending=False, kind="stable")
    facts: dict[str, Fact] = {f"right of {name}": float(share) for name, share in ranked.items()}
    shown = ranked if len(ranked) <= CONDITIONS else pd.concat([ranked.iloc[:1], ranked.iloc[-1:]])
    shares = listing(f"{escape(name)} {percent(share)}" for name, share in shown.items())
    on = f" on the {count(questions, 'question')} that all were asked" if questions < len(page.questions) else ""
    if on:
        facts["questions of all models"] = questions
    best, second = ranked.index[:2]
    if ranked[best] == ranked[second]:
        text = f"By model, right{on}: {shares}; the first are equal."
    elif table_.loc[best, "these_low"] > table_.loc[second, "these_high"]:
        text = f"**{escape(best)} is right most often**{on}: {shares}."
    else:
        text = f"By model, right{on}: {shares}; these runs do not tell which is better."
    return Statement(text, facts)


def _cost(page: Page) -> Statement:
    costs = page.tables.costs
    known = costs.dropna(subset=["cost"])
    if known.empty or len(known) < len(costs) or not known["cost"].any():
        return Statement()
    each = listing(format_money(float(v), str(c)) for c, v in known.groupby("currency")["cost"].mean().items())
    return Statement(f"One run costs {escape(each)} on average.")


def assignment_sheet(page: Page, advice: Mapping[str, Advice]) -> Markdown:
    """Return a row per question: verdict, share of right runs, commonest wrong answer, cost of a run, next step.

    Runs of all conditions are taken together, as students who use any of them are; beside them each model's own.

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
        Column("Question", width=26),
        Column("Verdict", width=17),
        Column("Right", "right", 16),
        Column("Commonest wrong answer", width=16),
        Column("Cost of one run", "right", 9),
        Column("What to do", width=24),
    ]
    several = len(page.conditions) > 1
    caption = (
        "Right: the share of students to expect with the right answer if each asks once"
        + (", whichever of the conditions they use" if several else "")
        + "; runs, and the 95\u00a0% Wilson interval of the share"
        + (", which takes the runs of all conditions as alike" if several else "")
        + (", then each model by itself" if len(page.models) > 1 else "")
        + ". Where answers could not be read, the share goes from none of them right to all of them. "
        + ("Behind a verdict: under how many of the question's conditions. " if several else "")
        + "The share behind a wrong answer is of all runs."
    )
    return table(columns, rows, label="tbl-sheet", caption=caption, classes=("stack", "sheet"))


def sheet_summary(advice: Mapping[str, Advice]) -> Markdown:
    """Return which questions look ambiguous, in a sentence."""
    split = [(name, found.ambiguous_text) for name, found in advice.items() if found.ambiguous is not None]
    if not split:
        text = (
            "No question looks ambiguous: nowhere do several models split between the same answers, or answers come "
            "back that another reading of the data gives."
        )
    else:
        listed = "; ".join(f"**{escape(name)}** ({text})" for name, text in split)
        text = f"{count(len(split), 'question')} may be read in more than one way: {listed}."
    return Markdown(text)


def _verdicts(page: Page, question_id: str) -> str:
    cells = page.cells[page.cells["question_id"] == question_id]
    counts: dict[tuple[str, bool], int] = {}
    for verdict, settled in zip(cells["verdict"].astype(str), cells["settled"].astype(bool), strict=True):
        key = (verdict, settled or verdict not in CALLS)
        counts[key] = counts.get(key, 0) + 1
    marks = [
        verdict_mark(verdict, settled) + ("" if len(counts) == 1 else f" ({of(n, len(cells))})")
        for (verdict, settled), n in sorted(counts.items(), key=lambda item: -item[1])
    ]
    return " ".join(marks)


def _right(found: Advice) -> str:
    if not found.marked:
        return "–"
    low, high = found.right / found.marked, (found.right + found.unread) / found.marked
    if found.unread:
        share = f"{percent(low)} to {percent(high)}"
        told = [f"{of(found.right, found.marked)}, {found.unread:,} not read"]
    else:
        bounds = wilson(found.right, found.marked)
        share = percent(low)
        told = [f"{of(found.right, found.marked)}, {interval(bounds.low, bounds.high, as_percent=True)}"]
    models = {name: both for name, both in found.by_model.items() if both[1]}
    if 1 < len(models) <= CONDITIONS:
        told += [f"{escape(name)} {percent(right / marked)}" for name, (right, marked) in models.items()]
    # Each on a line of its own, where one line would be wider than the column.
    return " ".join([share, *(span(part, "interval") for part in told)])


def _wrong(found: Advice) -> str:
    if found.wrong is None:
        return "–"
    return f"{found.wrong} {span(percent(found.wrong_runs / found.runs), 'interval')}"
