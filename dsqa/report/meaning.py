"""What the verdicts mean for someone who reads one paragraph: a list of sentences, each with its numbers."""

from __future__ import annotations

from functools import cache

import pandas as pd

from dsqa.outcomes import unread_matters
from dsqa.report.markdown import escape
from dsqa.report.page import Page
from dsqa.report.statement import Fact, Statement, joined
from dsqa.report.verdict import CONDITIONS, MANY, links, names_of, open_calls, runs_of, unread_counts, where
from dsqa.report.wording import count, interval, listing, number, percent
from dsqa.stats import CALLS, NOTABLE, SCORE_BOUNDS, UNPARSED, mean_accuracy, unseen_bound
from dsqa.stats.sequential import instability_calls

__all__ = ["asked_once", "hurry"]

# A wrong answer is "the same" one if at least this share of a cell's runs gives it.
_ALIKE = 0.8


def hurry(page: Page) -> Statement:
    """Return what the verdicts mean, as a list."""
    if (page.outcomes["status"] == "failed").all():
        return joined(_lost(page), "\n", "- ")
    items = [asked_once(page), *_wrong(page), *_unstable(page), *_heat(page), *_unsettled(page), *_lost(page)]
    return joined(items, "\n", "- ")


def asked_once(page: Page) -> Statement:
    """Return how often someone who asks once gets a right result: over all, by condition, and by question."""
    mean = mean_accuracy(page.cells)
    if pd.isna(mean):
        return Statement(
            "Whether someone who asks **once** gets a right result is not known: there is no ground truth."
        )
    facts: dict[str, Fact] = {"asked once": mean}
    text = f"Someone who asks **once** gets a right result in **{percent(mean)}** of cases"
    if unread_matters(page.outcomes):
        most = mean_accuracy(page.cells.assign(accuracy=page.cells["accuracy_if_read"]))
        text += f", and in at most {percent(most)} had every answer that could not be read been right"
        facts["asked once if read"] = most
    complete = len(page.cells) == len(page.questions) * len(page.conditions)
    means = {
        key: mean_accuracy(page.cells[page.cells["condition_id"] == key])
        for key in page.conditions
        if page.cells.loc[page.cells["condition_id"] == key, "accuracy"].notna().any()
    }
    own = "" if complete else ", each with the questions it was asked"
    if 1 < len(means) <= CONDITIONS:
        facts |= {f"asked once under {key}": share for key, share in means.items()}
        text += f" ({'; '.join(f'{escape(page.conditions[k])}: {percent(v)}' for k, v in means.items())}{own})"
    elif len(means) > CONDITIONS:
        low, high = min(means, key=lambda key: means[key]), max(means, key=lambda key: means[key])
        facts |= {"asked once, worst condition": means[low], "asked once, best condition": means[high]}
        if percent(means[low]) == percent(means[high]):
            text += " under every condition"
        else:
            worst, best = (f"{percent(means[at])} with {escape(page.conditions[at])}" for at in (low, high))
            text += f" (from {worst} to {best}{own})"
    if len(page.cells) == 1:
        cell = page.cells.iloc[0]
        facts |= {"low": float(cell["accuracy_low"]), "high": float(cell["accuracy_high"]), "runs": int(cell["runs"])}
        bounds = interval(cell["accuracy_low"], cell["accuracy_high"], as_percent=True)
        return Statement(f"{text}, as far as {runs_of(page.cells)} can tell: 95\u00a0% interval {bounds}.", facts)
    by_question = page.cells.groupby("question_id", sort=False)["accuracy"].mean().dropna()
    if len(by_question) == 1:
        return Statement(f"{text}.", facts)
    least, most = float(by_question.min()), float(by_question.max())
    if percent(least) == percent(most):
        return Statement(f"{text}, whichever question it is.", facts)
    facts |= {"asked once, hardest question": least, "asked once, easiest question": most}
    text += f". That is an average: question by question it goes from {percent(least)} to {percent(most)}."
    return Statement(text, facts)


def _wrong(page: Page) -> list[Statement]:
    cells = page.cells[page.cells["verdict"] == "stable and wrong"]
    wrong = names_of(cells)
    if not wrong:
        return []
    runs = int(cells["n_scored"].sum())
    right = round(float((cells["accuracy"] * cells["n_scored"]).sum()))
    items = [
        Statement(
            f"**Asking again hardly helps** with {links(page, wrong)}{where(page, cells)}: stable and wrong, "
            f"{right:,} of {count(runs, 'run')} right.",
            {
                "questions stable and wrong": len(wrong),
                "right runs of cells stable and wrong": right,
                "runs of cells stable and wrong": runs,
            },
        )
    ]
    # The most frequent outcome, provided that an answer was read at all.
    alike = names_of(cells[(cells["modal_share"] >= _ALIKE) & (cells["modal_answer"] != UNPARSED)])
    if alike:
        items.append(
            Statement(
                f"With {links(page, alike)}, **the same wrong answer** comes back in {percent(_ALIKE)} of runs or "
                "more: that responses agree is no sign that they are right.",
                {"share that counts as the same": _ALIKE, "questions with the same wrong answer": len(alike)},
            )
        )
    return items


def _unstable(page: Page) -> list[Statement]:
    """Two kinds: the result changes, or none was found right and only the rest of the score changes."""
    cells = page.cells[page.cells["verdict"] == "unstable"]
    items = []
    changing, never = cells[cells["accuracy"] > 0], cells[cells["accuracy"] == 0]
    if len(changing):
        names = names_of(changing)
        items.append(
            Statement(
                f"With {links(page, names)}{where(page, changing)}, **one response says little**: how well it scores "
                "changes from one run to the next.",
                {"unstable questions, some right": len(names)},
            )
        )
    if len(never):
        names = names_of(never)
        items.append(
            Statement(
                f"With {links(page, names)}{where(page, never)}, **no run was found right**; what changes is only "
                f"{_changes(page, never)}.",
                {"unstable questions, never right": len(names)},
            )
        )
    return items


def _changes(page: Page, cells: pd.DataFrame) -> str:
    """Return which parts of the score change within cells that have no right run."""
    runs = page.outcomes.merge(cells[["question_id", "condition_id"]].astype("string"))
    spread = runs.groupby(["question_id", "condition_id"])[["completion", "executability"]].nunique() > 1
    parts = {"completion": "whether a response comes to a proper end", "executability": "whether there is code"}
    return listing((text for name, text in parts.items() if spread[name].any()), "or") or "the score"


def _heat(page: Page) -> list[Statement]:
    """One sentence per model asked at several temperatures: the same questions at the lowest and the highest."""
    items = []
    for model in page.models:
        cells = page.cells[(page.cells["model"] == model) & page.cells["temperature"].notna()]
        cells = cells.dropna(subset=["instability", "accuracy"])
        heats = sorted(cells["temperature"].unique())
        if len(heats) < 2:
            continue
        ends = cells[cells["temperature"].isin([heats[0], heats[-1]])]
        by_heat = ends.groupby(["temperature", "question_id"])[["instability", "accuracy"]].mean()
        means = pd.DataFrame(by_heat.unstack()).dropna(axis=1)
        both = means["instability"].shape[1]
        if not both:
            continue
        spread, right = (pd.DataFrame(means[name]).mean(axis=1).tolist() for name in ("instability", "accuracy"))
        name = f" of {escape(model)}" if len(page.models) > 1 else ""
        of = f" over the {count(both, 'question')} asked at both" if both < cells["question_id"].nunique() else ""
        known: dict[str, Fact] = {"lowest temperature": float(heats[0]), "highest temperature": float(heats[-1])}
        known |= {"instability, lowest": spread[0], "instability, highest": spread[1]}
        known |= {"right, lowest": right[0], "right, highest": right[1]} | ({"questions at both": both} if of else {})
        items.append(
            Statement(
                f"Mean instability{name}{of} is **{number(spread[0])}** at temperature {heats[0]:g} "
                f"({percent(right[0])} right) and **{number(spread[1])}** at {heats[-1]:g} ({percent(right[1])} "
                "right).",
                {f"{fact} of {model}": value for fact, value in known.items()},
            )
        )
    if items:
        items[-1] = joined([items[-1], Statement("0 is steady, not good; 1 is as spread as can be.")])
    return items


def _unsettled(page: Page) -> list[Statement]:
    unsettled, calls = open_calls(page), int(page.cells["verdict"].isin(CALLS).sum())
    if unsettled.empty:
        return []
    one = len(unsettled) == 1
    facts: dict[str, Fact] = {"verdicts not settled": len(unsettled), "verdicts": calls}
    facts |= {"fewest runs, open": int(unsettled["runs"].min()), "most runs, open": int(unsettled["runs"].max())}
    which = "The verdict" if calls == 1 else f"{len(unsettled):,} of {calls:,} verdicts"
    text = (
        f"**{which} {'is' if one else 'are'} not settled** with "
        f"{runs_of(unsettled)}: read {'it' if one else 'those'} as a first impression. To settle more, raise "
        f"`{'runs' if page.stop is None else 'max_runs'}` and run the study again; recorded runs are kept."
    )
    enough = _enough(sequential=page.stop is not None)
    if int(unsettled["runs"].max()) < enough:
        text += f" Even a question with the full score in every run takes {enough} runs to be called stable for sure."
        facts["runs that settle a steady cell"] = enough
    return [Statement(text, facts)]


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


def _lost(page: Page) -> list[Statement]:
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
        if lost.get("truncated", 0) >= MANY * runs:
            text += " **Many were cut at the token limit**: a higher `max_tokens` may change the picture."
        if lost.get("failed", 0) >= MANY * runs:
            text += " **Many failed without a reply**, which says nothing about the model: run the study again."
        items.append(Statement(text, {"runs": runs, "runs without a proper end": total, **lost}))
    replies, unread = unread_counts(page)
    if unread:
        which = "the only reply" if replies == 1 else f"{unread:,} of {replies:,} replies"
        text = f"In {which} no answer could be read; {'it counts' if unread == 1 else 'they count'} as not right."
        items.append(Statement(text, {"unread": unread, "replies": replies}))
    return items
