"""The questions: one table of all, and a card for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dsqa.bank import Question
from dsqa.records import Record
from dsqa.report.advice import Advice, advise
from dsqa.report.facts import record_texts
from dsqa.report.markdown import Column, Markdown, anchor, escape, span, table, verbatim
from dsqa.report.page import Page, answer_text, shorten
from dsqa.report.verdict import verdict_mark
from dsqa.report.wording import MISSING, count, interval, is_missing, number, of, percent

__all__ = ["AnswerShare", "answer_shares", "question_cards", "question_table", "typical_run"]

_TOP = 3
MOST_CARDS = 60
"""Beyond these, the questions without a card are listed: a page of a thousand is not read, and hardly opens."""


@dataclass(frozen=True)
class AnswerShare:
    """A distinct answer: its text, how many of the cell's runs gave it, whether it is right."""

    text: str
    runs: int
    right: bool


_Answers = dict[tuple[str, str], list[AnswerShare]]


def answer_shares(outcomes: pd.DataFrame, truths: Mapping[str, str] | None = None) -> _Answers:
    """Return each cell's distinct answers, the commonest first; runs without one are left out.

    Wrong answers are distinct by ``answer_key`` and shown as the first run put them. Ties keep the order of the runs.

    Parameters
    ----------
    outcomes
        A row per run.
    truths
        Question → its right answer as Markdown. All answers that match are one, shown in this form; without
        it, as a wrong one.

    Returns
    -------
    dict
        (question, condition) → answers.
    """
    read = outcomes[outcomes["answer_key"].notna()].sort_values("run", kind="stable")
    names = ("question_id", "condition_id", "answer_key", "answer", "answer_status")
    cells: dict[tuple[str, str], dict[tuple[bool, str], AnswerShare]] = {}
    for question, condition, key, answer, status in zip(*(read[name].astype(object) for name in names), strict=True):
        shares = cells.setdefault((str(question), str(condition)), {})
        right = status == "matched"
        truth = (truths or {}).get(str(question)) if right else None
        place = (right, str(key) if truth is None else truth)
        seen = shares.get(place) or AnswerShare(truth or str(answer_text(answer)), 0, right)
        shares[place] = AnswerShare(seen.text, seen.runs + 1, right)
    return {cell: sorted(shares.values(), key=lambda share: -share.runs) for cell, shares in cells.items()}


def typical_run(rows: pd.DataFrame) -> pd.Series | None:
    """Return a question's most typical run, or None where no run brought a text.

    Among the runs with the question's commonest outcome (an answer, or that none was read): the one whose
    text is closest to all others of its cell, that is, with the largest mean Jaccard index. Ties go to an
    answer, then to the first condition and run.
    """
    texts = rows[rows["words_out"].notna() & ~rows["status"].isin(["failed", "empty"])]
    if texts.empty:
        return None
    counts = texts["answer_key"].value_counts(sort=False)
    unread = int(texts["answer_key"].isna().sum())
    if len(counts) and int(counts.max()) >= unread:
        texts = texts[texts["answer_key"] == counts.index[int(counts.to_numpy().argmax())]]
    else:
        texts = texts[texts["answer_key"].isna()]
    closeness = texts["jaccard_mean"].astype("Float64").fillna(-1.0).to_numpy(dtype=float)
    return texts.iloc[int(closeness.argmax())]


def question_table(page: Page) -> Markdown:
    """Return the table of all cells: accuracy and instability with intervals, commonest outcome, verdict."""
    several = len(page.conditions) > 1
    answers = answer_shares(page.outcomes, _truths(page))
    rows = []
    for question in page.questions:
        first = True
        for condition, label in page.conditions.items():
            cell = page.cell(question.id, condition)
            if cell is None:
                continue
            shares = answers.get((question.id, condition), [])
            name = f"**{page.link(question.id)}**"
            if first:
                name += f" {escape(shorten(question.question, 80))} {span(question.level, 'level')}"
            row = [name]
            if several:
                row.append(escape(label))
            row += [verdict_mark(str(cell["verdict"]), bool(cell["settled"])), *_estimates(cell)]
            known = not is_missing(cell["accuracy"])
            top = _commonest(shares, int(cell["runs"])) if known else MISSING
            row += [top, answer_text(question.answers, 40) if question.marked else MISSING]
            rows.append(row)
            first = False
    columns = [Column("Question", width=27)]
    if several:
        longest = max(len(label) for label in page.conditions.values())
        columns.append(Column("Condition", width=min(22, max(13, longest))))
    columns += [
        Column("Verdict", width=23),
        Column("Right", "right", 16),
        Column("Instability", "right", 16),
        Column("Top answer", width=14),
        Column("Right answer", width=10),
    ]
    caption = (
        "Every question under every condition. Right: runs with the right result, of all runs, with the "
        f"95 % {_interval_name(page)} of the share. Instability: population SD of the score ÷ 1.5, with its 95 % "
        "interval, which allows for outcomes that these runs happened not to show. Top answer: the commonest, with "
        "its share of all runs; *none read* where most often no answer could be read. "
        f"{MISSING}: not defined."
    )
    return table(columns, rows, label="tbl-questions", caption=caption, classes=("stack", "questions"))


def _interval_name(page: Page) -> str:
    return "Wilson interval" if page.stop is None else "[confidence sequence](#sec-methods-stopping)"


def question_cards(page: Page, *, max_lines: int = 40, max_chars: int = 3000) -> Markdown:
    """Return a card per question: text, right answer, top answers, a typical response.

    Of more than `MOST_CARDS` questions those whose score varies most within a condition, the others by name.

    Parameters
    ----------
    page
        The study.
    max_lines, max_chars
        Where a response is cut.
    """
    shown = _carded(page)
    typical: dict[str, pd.Series] = {}
    outcomes = page.outcomes[page.outcomes["question_id"].isin(shown)]
    for name, rows in outcomes.groupby("question_id", sort=False):
        run = typical_run(rows)
        if run is not None:
            typical[str(name)] = run
    records = record_texts(page.folder, {_key(run) for run in typical.values()})
    answers = answer_shares(outcomes, _truths(page))
    advice = advise(page, shown)
    cards = []
    others = [question for question in page.questions if question.id not in shown]
    if others:
        cards.append(
            f"Below are the {len(shown)} questions whose score varies most from run to run; the other {len(others)} "
            "are listed at the end, and all of them in the table above."
        )
    for question in page.questions:
        if question.id not in shown:
            continue
        run = typical.get(question.id)
        record = None if run is None else records.get(_key(run))
        response = None
        if run is not None and record is not None:
            response = _response(page, run, record, max_lines=max_lines, max_chars=max_chars)
        cards.append(_card(page, question, answers, advice[question.id], response))
    if others:
        names = ", ".join(f"[{escape(question.id)}]{{#{anchor('q', question.id)}}}" for question in others)
        cards.append(f"Questions without a card: {names}.")
    return Markdown("\n\n".join(cards))


def _carded(page: Page) -> set[str]:
    """Return the questions that get a card."""
    names = [question.id for question in page.questions]
    if len(names) <= MOST_CARDS:
        return set(names)
    spread = page.outcomes.groupby(["question_id", "condition_id"])["score"].std(ddof=0).groupby("question_id").mean()
    # In the bank's order where they vary alike.
    return set(sorted(names, key=lambda name: -float(spread.fillna(0.0).get(name, 0.0)))[:MOST_CARDS])


def _truths(page: Page) -> dict[str, str]:
    return {question.id: str(answer_text(question.answers)) for question in page.questions}


def _card(page: Page, question: Question, answers: _Answers, found: Advice, response: str | None) -> str:
    facts = [span(question.level, "level"), escape(question.category)]
    if question.file_name is not None:
        facts.append(escape(question.file_name))
    right = ", ".join(f"{escape(name)} = **{escape(value)}**" for name, value in question.common_answers)
    paragraphs = [part for part in question.question.split("\n\n") if part.strip()]
    parts = [
        "::: {.card}",
        f"### {escape(question.id)} {{#{anchor('q', question.id)}}}",
        f"[{' · '.join(facts)}]{{.facts}}",
        "\n>\n".join(f"> {escape(paragraph)}" for paragraph in paragraphs),
        f"Right answer: {right}",
        _answers(page, question, answers),
        _findings(found),
        response or "[No run brought a text to show.]{.note}",
        ":::",
    ]
    return "\n\n".join(parts)


def _findings(found: Advice) -> str:
    wrong = "none" if found.wrong is None else f"{found.wrong} ({of(found.wrong_runs, found.runs)})"
    parts = [
        f"**What to do**: {found.next_step}",
        f"**Commonest wrong answer**: {wrong}",
        *([] if found.ambiguous is None else [f"**Looks ambiguous**: {found.ambiguous_text}"]),
        f"**Cost of one run**: {found.cost}",
    ]
    return "\n".join(f"- {part}" for part in parts)


def _answers(page: Page, question: Question, answers: _Answers) -> str:
    rows = []
    for condition, label in page.conditions.items():
        cell = page.cell(question.id, condition)
        if cell is None:
            continue
        runs = int(cell["runs"])
        shares = answers.get((question.id, condition), [])
        shown = [_share(share.text, share.runs, runs, right=share.right) for share in shares[:_TOP]]
        rest = shares[_TOP:]
        if rest:
            total = sum(share.runs for share in rest)
            shown.append(_share(f"{count(len(rest), 'other answer')}", total, runs, right=any(s.right for s in rest)))
        unread = runs - sum(share.runs for share in shares)
        if unread:
            shown.append(_share("*none read*", unread, runs, right=False))
        right, instability = _estimates(cell)
        rows.append(
            [
                escape(label),
                verdict_mark(str(cell["verdict"]), bool(cell["settled"])),
                right,
                instability,
                " ".join(shown),
            ]
        )
    columns = [
        Column("Condition", width=13),
        Column("Verdict", width=20),
        Column("Right", "right", 14),
        Column("Instability", "right", 14),
        Column("Answers given", width=33),
    ]
    return table(columns, rows, classes=("stack", "answers"))


def _share(text: str, part: int, whole: int, *, right: bool) -> str:
    tick = " ✓" if right else ""
    classes = ".share" + (" .right" if right else "")
    return f'[[{text}{tick}]{{.answer}} ({of(part, whole)})]{{{classes} style="--part:{100 * part / whole:.1f}%"}}'


def _response(page: Page, run: pd.Series, record: Record, *, max_lines: int, max_chars: int) -> str:
    label = page.conditions[str(run["condition_id"])]
    unread = run["answer_status"] == "unparsed"
    result = "right" if run["answer_status"] == "matched" else "no answer read" if unread else "not right"
    if is_missing(run["accuracy"]):
        result = "no ground truth"
    where = f"run {int(run['run'])}" + (f" at {label}" if len(page.conditions) > 1 else "")
    closeness = "" if is_missing(run["jaccard_mean"]) else f", mean Jaccard index {number(run['jaccard_mean'])}"
    title = f"A typical response ({where}, {result}{closeness})"
    quoted = " ".join(title.split()).replace("\\", "\\\\").replace('"', '\\"')
    text = verbatim(record.text, max_lines=max_lines, max_chars=max_chars, rest="the record holds it whole")
    return f'::: {{.callout-note collapse="true" title="{quoted}"}}\n\n{text}\n\n:::'


def _estimates(cell: pd.Series) -> list[str]:
    runs = int(cell["runs"])
    if is_missing(cell["accuracy"]):
        return [MISSING, MISSING]
    right = round(float(cell["accuracy"]) * runs)
    accuracy = of(right, runs)
    bounds = interval(cell["accuracy_low"], cell["accuracy_high"], as_percent=True)
    unstable = number(cell["instability"])
    spread = interval(cell["instability_low"], cell["instability_high"])
    return [
        f"{accuracy} {span(bounds, 'interval')}",
        unstable if spread == MISSING else f"{unstable} {span(spread, 'interval')}",
    ]


def _commonest(shares: list[AnswerShare], runs: int) -> str:
    unread = runs - sum(share.runs for share in shares)
    top = shares[0] if shares and shares[0].runs >= unread else AnswerShare("*none read*", unread, False)
    return f"{top.text}{' ✓' if top.right else ''} {span(percent(top.runs / runs), 'interval')}"


def _key(run: pd.Series) -> tuple[Any, ...]:
    return (str(run["question_id"]), str(run["condition_id"]), int(run["run"]))
