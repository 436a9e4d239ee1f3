"""What a question's runs mean for whoever sets it: commonest wrong answer, ambiguity, cost, what to do next."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd

from dsqa.bank import Question
from dsqa.prices import format_money
from dsqa.report.markdown import escape
from dsqa.report.marking import holds_the_truth
from dsqa.report.page import Page, answer_text
from dsqa.report.wording import count, interval, listing, percent
from dsqa.stats import wilson
from dsqa.stats.ambiguity import Ambiguity, ambiguity
from dsqa.values import parse_truth

__all__ = ["Advice", "advise"]

_MOST = 0.5
_ALIKE = 0.8
# A wrong answer that comes back in this share of runs, and twice, is worth a word.
_AGAIN = 0.1
# From this share of right runs on a student can count on it.
_SURE = 0.8
# An interval no wider than this tells a coin toss from what more runs would settle.
_NARROW = 0.3


@dataclass(frozen=True)
class Advice:
    """A question's findings, as Markdown.

    Parameters
    ----------
    right, marked
        Right runs, and all runs that could be marked, over all conditions.
    runs
        All runs.
    unread
        Replies in which no answer could be read.
    by_model
        Model → right and marked runs; empty where there is only one.
    wrong, wrong_runs
        The commonest wrong answer and how many runs gave it; None where there is none.
    ambiguous
        What speaks for the question's being ambiguous; None where nothing does.
    ambiguous_text
        The same in words; empty where nothing does.
    cost
        What one run costs on average, or the tokens it takes where there is no price; a dash where neither is known.
    next_step
        What to do.
    """

    right: int
    marked: int
    runs: int
    unread: int
    by_model: Mapping[str, tuple[int, int]]
    wrong: str | None
    wrong_runs: int
    ambiguous: Ambiguity | None
    ambiguous_text: str
    cost: str
    next_step: str


def advise(page: Page, only: Collection[str] | None = None) -> dict[str, Advice]:
    """Return the advice for each question, or for those of `only`, by id."""
    costs = _costs(page)
    wanted = [question for question in page.questions if only is None or question.id in only]
    outcomes = page.outcomes[page.outcomes["question_id"].isin([question.id for question in wanted])]
    rows = {str(name): group for name, group in outcomes.groupby("question_id", sort=False)}
    return {question.id: _advice(page, question, rows[question.id], costs[question.id]) for question in wanted}


def _advice(page: Page, question: Question, rows: pd.DataFrame, cost: str) -> Advice:
    shown = {str(k): str(answer_text(a, 30)) for k, a in zip(rows["answer_key"], rows["answer"], strict=True)}
    wrong = rows.loc[rows["answer_key"].notna() & (rows["accuracy"] == 0), "answer_key"].value_counts(sort=False)
    commonest = None if wrong.empty else str(wrong.index[int(wrong.to_numpy().argmax())])
    found = _ambiguity(question, rows)
    by_model = rows.groupby("model", sort=False)["accuracy"].agg(["sum", "count"])
    told = Advice(
        right=int(rows["accuracy"].sum()),
        marked=int(rows["accuracy"].notna().sum()),
        runs=len(rows),
        unread=int((rows["answer_key"].isna() & (rows["accuracy"] == 0) & (rows["status"] != "failed")).sum()),
        by_model={str(m): (int(r), int(n)) for m, r, n in by_model.itertuples()} if len(by_model) > 1 else {},
        wrong=None if commonest is None else shown[commonest],
        wrong_runs=0 if wrong.empty else int(wrong.max()),
        ambiguous=found,
        ambiguous_text="" if found is None else _ambiguity_text(found, shown),
        cost=cost,
        next_step="",
    )
    texts = rows.loc[rows["answer_key"] == commonest, "answer"] if commonest is not None else rows["answer"].iloc[:0]
    held = bool(len(texts)) and holds_the_truth(
        dict(question.answers).values(), answer_text(texts.iloc[0], 200).replace("\\", "")
    )
    return Advice(**{**told.__dict__, "next_step": _next_step(rows, told, held=held)})


def _ambiguity(question: Question, rows: pd.DataFrame) -> Ambiguity | None:
    cells = {
        str(condition): [None if pd.isna(key) else str(key) for key in group.sort_values("run")["answer_key"]]
        for condition, group in rows.groupby("condition_id", sort=False)
    }
    named = rows.dropna(subset=["answer_key", "answer_convention"])
    return ambiguity(
        cells,
        dict(zip(rows["condition_id"].astype(str), rows["model"].astype(str), strict=True)),
        right=set(rows.loc[rows["accuracy"] == 1, "answer_key"].dropna().astype(str)),
        readings=dict(zip(named["answer_key"].astype(str), named["answer_convention"].astype(str), strict=True)),
        two_valued=bool(question.options) or _is_two_valued(question),
    )


def _is_two_valued(question: Question) -> bool:
    return any(parse_truth(truth).kind == "boolean" for truth in dict(question.answers).values())


def _ambiguity_text(found: Ambiguity, shown: Mapping[str, str]) -> str:
    why = [f"{listing(escape(model) for model in found.models)} split alike"] if found.models else []
    why += [f"one of them is right under another reading: {escape(found.reading)}"] if found.reading else []
    return f"{listing(shown[key] for key in found.answers)}; {', '.join(why)}"


def _next_step(rows: pd.DataFrame, found: Advice, *, held: bool) -> str:
    runs, right, marked = found.runs, found.right, found.marked
    if (rows["status"] == "failed").all():
        return "Run the study again: no reply came."
    if not marked:
        return "Give the bank its right answer, then mark again."
    if (rows["status"] == "truncated").mean() >= _MOST:
        return "Raise `max_tokens`: most responses were cut."
    if held and found.wrong_runs >= max(2, _AGAIN * runs):
        return f"Check the marking: {found.wrong}, counted as wrong, holds the right answer."
    if rows["answer_key"].isna().mean() >= _MOST:
        return "Look at a response (`dsqa show`): in most no answer could be read."
    if found.ambiguous is not None:
        return f"Say which is meant: {found.ambiguous_text}."
    if found.wrong is not None and found.wrong_runs >= _ALIKE * runs:
        return (
            f"Check the right answer in the bank: {percent(found.wrong_runs / runs)} of runs agree on {found.wrong}."
        )
    if text := _by_model(found):
        return text
    bounds = wilson(right, marked)
    if bounds.low > _MOST and right >= _SURE * marked:
        return "Count on students getting it right; ask for the reasoning too."
    if bounds.low > _MOST:
        return "Most students get it right, not all: let them compare results."
    if bounds.high < _MOST:
        again = found.wrong is not None and found.wrong_runs >= max(2, _AGAIN * runs)
        return f"Most students get it wrong: look for {found.wrong if again else 'copied wrong work'} when marking."
    if bounds.high - bounds.low <= _NARROW:
        return "A coin toss: expect students to get different results."
    return (
        f"Ask more: {count(marked, 'run')} leave open whether most students get it right "
        f"({interval(bounds.low, bounds.high, as_percent=True)})."
    )


def _by_model(found: Advice) -> str:
    """Return that it depends on the model, where the intervals of the best and the worst lie apart."""
    known = {model: both for model, both in found.by_model.items() if both[1]}
    if len(known) < 2:
        return ""
    ranked = sorted(known, key=lambda model: known[model][0] / known[model][1])
    (low_right, low_runs), (high_right, high_runs) = known[ranked[0]], known[ranked[-1]]
    apart = wilson(low_right, low_runs).high < wilson(high_right, high_runs).low
    if not apart or (low_right > _MOST * low_runs) == (high_right > _MOST * high_runs):
        return ""
    return (
        f"It depends on the model: {escape(ranked[-1])} gets it right in {percent(high_right / high_runs)} of runs, "
        f"{escape(ranked[0])} in {percent(low_right / low_runs)}."
    )


def _costs(page: Page) -> dict[str, str]:
    known = page.tables.costs.groupby("question_id")
    complete = known["cost"].count() == known.size()
    money = page.tables.costs.groupby(["question_id", "currency"])["cost"].sum()
    tokens = page.outcomes.groupby("question_id")["tokens_total"].mean()
    texts = {}
    for question in page.questions:
        sums = money[question.id] if complete.get(question.id, False) else None
        took = tokens.get(question.id)
        if sums is not None and sums.any():
            runs = int(known.size()[question.id])
            texts[question.id] = escape(" + ".join(format_money(v / runs, str(c)) for c, v in sums.items()))
        else:
            texts[question.id] = "–" if took is None or pd.isna(took) else f"{took:,.0f} tokens"
    return texts
