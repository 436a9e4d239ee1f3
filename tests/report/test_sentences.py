"""What the first page, the sheet and the leads say, against the runs: every number worked out again by other code.

A statement carries the numbers that it states. Here each is recomputed with plain pandas and numpy from the outcome
table alone, and the text may hold no other number. Only whether a verdict is settled, and the ends of intervals, are
taken from the cell table: they are tested where they are made.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dsqa import report
from dsqa.report.page import Page
from dsqa.report.statement import Statement, joined
from dsqa.report.verdict import CONDITIONS
from tests.report.odd import ODD

CALLS = ("stable and right", "stable and wrong", "unstable")
SEEDS = {"usual": (1, 2, 3), "unequal runs": (1, 2)}
"""More than one where much is left to chance."""


def verdict_of(runs: pd.DataFrame) -> str:
    """The verdict of one cell by the words of docs/metrics.md."""
    n, failed = len(runs), int((runs["status"] == "failed").sum())
    if failed == n:
        return "no answers"
    right = int(runs["accuracy"].fillna(0).sum())
    unread = int(((runs["status"] != "failed") & (runs["accuracy"] == 0) & runs["answer_key"].isna()).sum())
    if unread > (n - failed) / 2:
        return "not read"
    if n < 2 or runs["score"].isna().all():
        return "not known"
    scores = np.array(runs["score"], dtype=float)
    if np.sqrt(np.mean((scores - scores.mean()) ** 2)) / 1.5 >= 0.3 - 1e-12:
        return "unstable"
    if right > n / 2:
        return "stable and right"
    return "not read" if right + unread > n / 2 else "stable and wrong"


def recount(page: Page) -> dict[str, float]:
    """Every number that a statement may state, from the runs."""
    runs = page.outcomes.copy()
    runs["accuracy"] = runs["accuracy"].astype("float")
    cells = dict(iter(runs.groupby(["question_id", "condition_id"], sort=False)))
    asked = pd.DataFrame(list(cells), columns=["q", "c"])
    sizes = [len(group) for group in cells.values()]
    conditions = asked["c"].nunique()
    per_question = asked.groupby("q")["c"].nunique()
    marked = runs["accuracy"].notna()
    replied = marked & (runs["status"] != "failed")
    unread = int((replied & runs["answer_key"].isna()).sum())
    right = int(runs["accuracy"].sum())
    known: dict[str, float] = {
        "questions": asked["q"].nunique(), "conditions": conditions, "runs": len(runs), "right": right,
        "marked": int(marked.sum()), "unread": unread, "replies": int(replied.sum()),
        "fewest runs of a cell": min(sizes), "most runs of a cell": max(sizes),
        "questions asked under every condition": int((per_question == conditions).sum()),
        "fewest questions of a condition": asked.groupby("c")["q"].nunique().min(),
        "most questions of a condition": asked.groupby("c")["q"].nunique().max(),
        "share right": right / max(1, marked.sum()), "share right if read": (right + unread) / max(1, marked.sum()),
    }  # fmt: skip
    for condition, group in asked.groupby("c"):
        known[f"questions asked under {condition}"] = group["q"].nunique()
    called = {key: verdict_of(group) for key, group in cells.items()}
    asked["verdict"] = list(called.values())
    asked["n"] = sizes
    for verdict in (*CALLS, "not read", "no answers", "not known"):
        hits = asked[asked["verdict"] == verdict]
        always = [q for q, group in asked.groupby("q") if (group["verdict"] == verdict).all()]
        known[f"cells {verdict}"] = len(hits)
        known[f"questions always {verdict}"] = len(always)
        known[f"questions in part {verdict}"] = hits["q"].nunique() - len(always)
    calls = asked[asked["verdict"].isin(CALLS)]
    known["verdicts"] = len(calls)
    shares = [float(group["accuracy"].mean()) for group in cells.values() if group["accuracy"].notna().any()]
    known |= {
        "level": 0.95,
        "resamples": 99,
        "questions with a truth": runs.loc[marked, "question_id"].nunique(),
        "without a mark": int((~marked).sum()),
        "questions without a truth": int((~marked.groupby(runs["question_id"]).any()).sum()),
        "cells with a truth": len(shares),
        "cells always right": sum(share == 1 for share in shares),
        "cells never right": sum(share == 0 for share in shares),
        "cells right at times": sum(0 < share < 1 for share in shares),
    }
    # Settled: from the cell table.
    settled = {(r.question_id, r.condition_id): bool(r.settled) for r in page.cells.itertuples()}
    still = calls[[not settled[(r.q, r.c)] for r in calls.itertuples()]]
    known["verdicts not settled"] = len(still)
    known |= {"fewest runs, open": still["n"].min(), "most runs, open": still["n"].max()} if len(still) else {}
    # Someone who asks once: cells, then questions, each once.
    asked["share"] = [group["accuracy"].mean() for group in cells.values()]
    asked["best"] = [
        ((group["accuracy"] == 1) | (group["answer_key"].isna() & (group["status"] != "failed"))).mean()
        for group in cells.values()
    ]
    with_truth = asked.dropna(subset=["share"])
    by_question = with_truth.groupby("q")["share"].mean()
    if len(by_question):
        known["asked once"] = by_question.mean()
        known["asked once if read"] = with_truth.groupby("q")["best"].mean().mean()
        known |= {
            "asked once, hardest question": by_question.min(),
            "asked once, easiest question": by_question.max(),
        }
        shares = {c: group.groupby("q")["share"].mean().mean() for c, group in with_truth.groupby("c")}
        known |= {f"asked once under {c}": share for c, share in shares.items()}
        known["asked once, worst condition"], known["asked once, best condition"] = (
            min(shares.values()), max(shares.values()),
        )  # fmt: skip
    wrong = pd.concat([g for key, g in cells.items() if called[key] == "stable and wrong"] or [runs.iloc[:0]])
    known["right runs of cells stable and wrong"] = int(wrong["accuracy"].sum())
    known["runs of cells stable and wrong"] = len(wrong)
    known["questions stable and wrong"] = wrong["question_id"].nunique()
    alike = {
        key[0]
        for key, group in cells.items()
        if called[key] == "stable and wrong" and group["answer_key"].value_counts().max() >= 0.8 * len(group)
    }
    known |= {"share that counts as the same": 0.8, "questions with the same wrong answer": len(alike)}
    unstable = {key: group["accuracy"].sum() for key, group in cells.items() if called[key] == "unstable"}
    known["unstable questions, some right"] = len({key[0] for key, hits in unstable.items() if hits})
    known["unstable questions, never right"] = len({key[0] for key, hits in unstable.items() if not hits})
    for status in ("truncated", "refused", "empty", "filtered", "failed"):
        known[status] = int((runs["status"] == status).sum())
    known["runs without a proper end"] = int((runs["status"] != "answered").sum())
    known["runs that settle a steady cell"] = 129
    if len(page.cells) == 1:
        known |= {"low": page.cells["accuracy_low"].iloc[0], "high": page.cells["accuracy_high"].iloc[0]}
    return known | _by_model(runs) | _by_temperature(runs)


def _by_model(runs: pd.DataFrame) -> dict[str, float]:
    """Accuracy of each model on the questions that all of them were asked."""
    marked = runs[runs["accuracy"].notna()]
    models = marked["model"].nunique()
    common = marked.groupby("question_id")["model"].nunique()
    common = common[common == models].index
    own = marked[marked["question_id"].isin(common)]
    cells = own.groupby(["model", "question_id", "condition_id"])["accuracy"].mean()
    means = cells.groupby(["model", "question_id"]).mean().groupby("model").mean()
    return {f"right of {model}": share for model, share in means.items()} | {"questions of all models": len(common)}


def _by_temperature(runs: pd.DataFrame) -> dict[str, float]:
    known: dict[str, float] = {}
    for model, own in runs[runs["score"].notna()].groupby("model"):
        cells = own.groupby(["temperature", "question_id", "condition_id"]).agg(
            sd=("score", lambda x: np.std(x.astype(float)) / 1.5), right=("accuracy", "mean"), n=("run", "size")
        )
        cells = cells[cells["n"] > 1]
        heats = sorted({heat for heat, *_ in cells.index})
        if len(heats) < 2:
            continue
        low, high = (cells.loc[heat].groupby("question_id").mean() for heat in (heats[0], heats[-1]))
        both = low.index.intersection(high.index)
        known |= {
            f"lowest temperature of {model}": heats[0], f"highest temperature of {model}": heats[-1],
            f"instability, lowest of {model}": low.loc[both, "sd"].mean(),
            f"instability, highest of {model}": high.loc[both, "sd"].mean(),
            f"right, lowest of {model}": low.loc[both, "right"].mean(),
            f"right, highest of {model}": high.loc[both, "right"].mean(),
            f"questions at both of {model}": len(both),
        }  # fmt: skip
    return known


def printed(value: float) -> set[str]:
    """How a number may stand in a sentence."""
    value = round(value, 12)  # 0.525 is printed as that, whatever the last bits of a mean are
    forms = {
        f"{value:,}",
        f"{value:g}",
        f"{value:.2f}",
        f"{value:.3f}",
        f"{value:.4f}",
        f"{np.floor(round(100 * value, 10) + 0.5):.0f}",
    }
    forms |= {f"{100 * value:.0f}", f"{value - 8:,}"}  # of a long list, those beyond the eight that are named
    if 0 < value < 0.005 or 0.995 <= value < 1:
        forms.add("1" if value < 0.5 else "99")
    return forms


def numbers_in(text: str, page: Page) -> list[str]:
    """The numbers that a text states, without links, code, references and the names of conditions and models."""
    from dsqa.report.markdown import escape

    for label in sorted({escape(label) for label in page.conditions.values()}, key=len, reverse=True):
        text = text.replace(label, "")
    text = re.sub(
        r"\]\(#[^)]*\)|`[^`]*`|@tbl-\w+|95\s%\s(?:Wilson\s)?interval|0 is steady, not good; 1 is as spread", "", text
    )
    return re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?", text)


def said(page: Page) -> dict[str, Statement]:
    """Every statement that is checked."""
    return {
        "lead": report.lead(page),
        "hurry": report.hurry(page),
        "sheet": report.sheet_lead(page),
        "accuracy": report.accuracy_lead(page, resamples=99),
    }


@pytest.mark.parametrize("name", ODD)
def test_every_number_of_every_sentence_is_that_of_the_runs(name: str, tmp_path: Path) -> None:
    for seed in SEEDS.get(name, (1,)):
        page = report.open_page(ODD[name].write(tmp_path / f"s{seed}", seed).root, resamples=99)
        known = recount(page)
        for place, statement in said(page).items():
            assert isinstance(statement, Statement), place
            for fact, value in statement.facts.items():
                if re.fullmatch("(these|other) (low|high)", fact):
                    continue  # the ends of intervals
                assert fact in known, f"{place}: nothing recounts '{fact}'"
                assert value == pytest.approx(known[fact], abs=1e-12), f"{place}: {fact}"
            allowed = set().union(*(printed(value) for value in statement.facts.values()))
            for number in numbers_in(statement, page):
                assert number in allowed, f"{place} states {number}, which is none of its facts: {statement}"
            assert not re.search(r"\bnan\b|NaN|<NA>|\b1 (runs|questions|conditions|verdicts|replies)\b", statement)


def test_each_model_with_questions_of_its_own_is_said_so(tmp_path: Path) -> None:
    page = report.open_page(ODD["each model has questions of its own"].write(tmp_path / "s").root, resamples=99)
    lead = report.lead(page)
    assert "not all of them the same**: 20 under alpha and 20 under beta, 10 of them under both; 4 times each" in lead
    assert "under both conditions" not in lead
    assert "each with the questions it was asked" in report.hurry(page)


@pytest.mark.parametrize(
    ("name", "opens"),
    [
        ("nothing read", True), ("hardly anything read", True), ("one condition not read", True),
        ("a third not read", True), ("refusals", True), ("usual", True), ("always right", False),
        ("always wrong, alike", False), ("all failed", False), ("no truths", False),
    ],
)  # fmt: skip
def test_what_could_not_be_read_opens_the_page_and_is_not_called_wrong(
    name: str, opens: bool, tmp_path: Path
) -> None:
    page = report.open_page(ODD[name].write(tmp_path / "s").root, resamples=99)
    assert report.lead(page).startswith("**In ") is opens
    assert bool(report.unread_note(page)) is opens
    if name in {"nothing read", "hardly anything read"}:
        assert not (page.cells["verdict"] == "stable and wrong").any()
        assert "stable and wrong" not in report.hurry(page)


def test_more_conditions_than_are_listed_are_summed_up(tmp_path: Path) -> None:
    page = report.open_page(ODD["six conditions"].write(tmp_path / "s").root, resamples=99)
    assert len(page.conditions) > CONDITIONS
    assert "asked once, worst condition" in report.hurry(page).facts


def test_one_name_for_two_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="'runs' is both 3 and 4"):
        joined([Statement("3 runs.", {"runs": 3}), Statement("4 runs.", {"runs": 4})])
