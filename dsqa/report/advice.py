"""What a question's runs mean for whoever sets it: commonest wrong answer, ambiguity, cost, what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from dsqa.bank import Question
from dsqa.prices import format_money
from dsqa.report.markdown import escape
from dsqa.report.page import Page, answer_text
from dsqa.report.wording import count, listing, percent
from dsqa.stats.ambiguity import AnswerSplit, answer_split

__all__ = ["Advice", "advise"]

_MOST = 0.5
_ALIKE = 0.8


@dataclass(frozen=True)
class Advice:
    """A question's findings, as Markdown.

    Parameters
    ----------
    right, marked
        Right runs, and all runs that could be marked, over all conditions.
    wrong, wrong_runs
        The commonest wrong answer and how many runs gave it; None where there is none.
    split
        Whether the question looks ambiguous, and how.
    ambiguous
        The same in words; None where it does not.
    cost
        What its runs cost, or the tokens they took where there is no price; a dash where neither is known.
    next_step
        What to do.
    """

    right: int
    marked: int
    runs: int
    wrong: str | None
    wrong_runs: int
    split: AnswerSplit | None
    ambiguous: str | None
    cost: str
    next_step: str


def advise(page: Page) -> dict[str, Advice]:
    """Return the advice for each question, by id."""
    costs = _costs(page)
    rows = {str(name): group for name, group in page.outcomes.groupby("question_id", sort=False)}
    return {
        question.id: _advice(page, question, rows[question.id], costs[question.id]) for question in page.questions
    }


def _advice(page: Page, question: Question, rows: pd.DataFrame, cost: str) -> Advice:
    shown = {str(k): str(answer_text(a, 30)) for k, a in zip(rows["answer_key"], rows["answer"], strict=True)}
    wrong = rows.loc[rows["answer_key"].notna() & (rows["accuracy"] == 0), "answer_key"].value_counts(sort=False)
    commonest = None if wrong.empty else str(wrong.index[int(wrong.to_numpy().argmax())])
    wrong_runs = 0 if wrong.empty else int(wrong.max())
    cells = {
        str(condition): [None if pd.isna(key) else str(key) for key in group.sort_values("run")["answer_key"]]
        for condition, group in rows.groupby("condition_id", sort=False)
    }
    split = answer_split(cells)
    return Advice(
        right=int(rows["accuracy"].sum()),
        marked=int(rows["accuracy"].notna().sum()),
        runs=len(rows),
        wrong=None if commonest is None else shown[commonest],
        wrong_runs=wrong_runs,
        split=split,
        ambiguous=None if split is None else _split_text(split, shown),
        cost=cost,
        next_step=_next_step(page, question, rows, split, shown, commonest, wrong_runs),
    )


def _split_text(split: AnswerSplit, shown: Mapping[str, str]) -> str:
    answers = listing(shown[key] for key in split.answers[:3])
    if split.kind == "between":
        return f"each condition keeps to its own answer ({answers})"
    return f"answers split between {answers}, each given again and again"


def _next_step(
    page: Page,
    question: Question,
    rows: pd.DataFrame,
    split: AnswerSplit | None,
    shown: Mapping[str, str],
    wrong: str | None,
    wrong_runs: int,
) -> str:
    runs = len(rows)
    cells = page.cells[page.cells["question_id"] == question.id]
    verdicts = set(cells["verdict"].astype(str))
    if (rows["status"] == "failed").all():
        return "Run the study again: no reply came."
    if not rows["accuracy"].notna().any():
        return "Give the bank its right answer, then mark again."
    if (rows["status"] == "truncated").mean() >= _MOST:
        return "Raise `max_tokens`: most responses were cut."
    if split is not None:
        return f"Say which is meant: {listing([shown[key] for key in split.answers[:3]], 'or')}."
    if rows["answer_key"].isna().mean() >= _MOST:
        return "Look at a response (`dsqa show`): most give no answer in the form asked."
    if wrong is not None and wrong_runs >= _ALIKE * runs:
        return f"Check the right answer in the bank: {percent(wrong_runs / runs)} of runs agree on {shown[wrong]}."
    if not cells["settled"].astype(bool).all():
        most = int(cells["runs"].max())
        return f"Ask more: {count(most, 'run')} do not settle it (`dsqa plan`)."
    if verdicts == {"stable and right"}:
        return "Count on students getting it right; ask for the reasoning too."
    if verdicts == {"stable and wrong"}:
        return "Look for " + (shown[wrong] if wrong is not None else "copied wrong work") + " when marking."
    if verdicts == {"unstable"}:
        return "Expect students to get different results from one question."
    return "It depends on the condition: see its card."


def _costs(page: Page) -> dict[str, str]:
    known = page.tables.costs.groupby("question_id")
    complete = known["cost"].count() == known.size()
    money = page.tables.costs.groupby(["question_id", "currency"])["cost"].sum()
    tokens = page.outcomes.groupby("question_id")["tokens_total"].sum(min_count=1)
    texts = {}
    for question in page.questions:
        sums = money[question.id] if complete.get(question.id, False) else None
        took = tokens.get(question.id)
        if sums is not None and sums.any():
            texts[question.id] = escape(" + ".join(format_money(v, str(c)) for c, v in sums.items()))
        else:
            texts[question.id] = "–" if took is None or pd.isna(took) else f"{int(took):,} tokens"
    return texts
