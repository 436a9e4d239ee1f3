"""Replies in which no answer could be read: typical ones beside the truth, and what would read them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from dsqa.metrics import READERS
from dsqa.outcomes.readers import read_again
from dsqa.study import StudyFolder

__all__ = ["ReadBy", "UnreadReplies", "UnreadReply", "inspect_unread", "unread_matters", "unread_runs"]

_SHOWN = 3
_MATTERS = 0.1
_NAMED = re.compile(r"[@＠]\s{0,3}[*`]{0,3}(\w[\w .-]{0,40}?)[*`]{0,3}\s{0,3}\\?\[")


@dataclass(frozen=True)
class ReadBy:
    """How many of the unread replies a reader reads, and how many of these are right."""

    read: int
    right: int


@dataclass(frozen=True)
class UnreadReply:
    """One reply: its run, its text, its question's truth, and what readers make of it (reader → answer as JSON)."""

    question_id: str
    condition_id: str
    run: int
    text: str
    truth: Mapping[str, str]
    read_by: Mapping[str, str]


@dataclass(frozen=True)
class UnreadReplies:
    """What is known of a study's unread replies.

    Parameters
    ----------
    replies
        Replies that should hold an answer.
    unread
        Those in which none could be read.
    tried
        How many of them were read again: all, or where there are very many as many as was asked for, evenly spaced.
    readers
        Reader → what it makes of them; the standard one left out.
    other_names
        Names in ``@name[...]`` that the questions do not have → in how many replies, the commonest first.
    typical
        Up to three, of different questions where there are several.
    """

    replies: int
    unread: int
    tried: int
    readers: Mapping[str, ReadBy] = field(default_factory=dict)
    other_names: Mapping[str, int] = field(default_factory=dict)
    typical: tuple[UnreadReply, ...] = ()

    @property
    def best(self) -> str | None:
        """The reader that reads most of them, the strictest of equals; None where none reads any."""
        read = {name: found.read for name, found in self.readers.items() if found.read}
        return max(read, key=lambda name: read[name]) if read else None


def unread_runs(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return the runs that got a reply, should hold an answer, and hold none that could be read."""
    replied = outcomes["accuracy"].notna() & (outcomes["status"] != "failed")
    return outcomes[replied & outcomes["answer_key"].isna() & (outcomes["accuracy"] == 0)]


def unread_matters(outcomes: pd.DataFrame) -> bool:
    """Tell whether so much could not be read that a page opens with it.

    That is a tenth of the replies, or, in a tenth of the cells, more than half of theirs.
    """
    marked = outcomes[outcomes["accuracy"].notna() & (outcomes["status"] != "failed")]
    if marked.empty:
        return False
    unread = marked.index.isin(unread_runs(marked).index)
    keys = [marked["question_id"].astype(str), marked["condition_id"].astype(str)]
    cells = pd.Series(unread, index=marked.index).groupby(keys).mean()
    return bool(unread.mean() >= _MATTERS or (cells > 0.5).mean() >= _MATTERS)


def inspect_unread(folder: StudyFolder, outcomes: pd.DataFrame, *, most: int = 1000) -> UnreadReplies:
    """Read again, with every reader, the replies of a marked study in which no answer could be read.

    Parameters
    ----------
    folder
        The recorded study.
    outcomes
        Its outcome table.
    most
        Read at most so many; a reader takes about a tenth of a millisecond for one.
    """
    replies = int((outcomes["accuracy"].notna() & (outcomes["status"] != "failed")).sum())
    unread = unread_runs(outcomes)
    if unread.empty:
        return UnreadReplies(replies, 0, 0)
    chosen = unread
    if len(unread) > most:
        chosen = unread.iloc[np.unique(np.linspace(0, len(unread) - 1, most).round().astype(int))]
    others = [name for name in READERS if name != "standard"]
    found = read_again(folder, chosen, others)
    bank = {question.id: question for question in folder.bank()}
    read = {name: ReadBy(0, 0) for name in others}
    names: Counter[str] = Counter()
    by_run: dict[tuple[str, str, int], UnreadReply] = {}
    for record, said in found:
        reader, status = str(said["reader"]), said["answer_status"]
        if status != "unparsed":
            so_far = read[reader]
            read[reader] = ReadBy(so_far.read + 1, so_far.right + int(said["accuracy"] or 0))
        key = (record.question_id, record.condition_id, record.run)
        truth = dict(bank[record.question_id].answers)
        if key not in by_run:
            by_run[key] = UnreadReply(*key, record.text, truth, {})
            own = {name.casefold() for name in truth}
            names.update({hit for hit in _NAMED.findall(record.text) if hit.casefold() not in own})
        if said["answer"] is not None:
            known = by_run[key]
            by_run[key] = UnreadReply(*key, known.text, truth, {**known.read_by, reader: str(said["answer"])})
    typical = tuple(by_run[key] for key in _typical(chosen) if key in by_run)
    return UnreadReplies(replies, len(unread), len(by_run), read, dict(names.most_common(_SHOWN)), typical)


def _typical(runs: pd.DataFrame) -> list[tuple[str, str, int]]:
    """Return up to three runs: of the questions with most of them, each the closest in wording to the others."""
    wording = runs["jaccard_mean"].astype("Float64").fillna(0.0)
    ordered = runs.assign(_wording=wording).sort_values("_wording", ascending=False, kind="stable")
    # The first of each question, then the second of each: of one question only where there are no others.
    turn = ordered.groupby("question_id").cumcount()
    size = ordered.groupby("question_id")["run"].transform("size")
    ordered = ordered.assign(_turn=turn, _size=-size).sort_values(["_turn", "_size"], kind="stable")
    keys = ordered[["question_id", "condition_id", "run"]].head(_SHOWN)
    return [(str(q), str(c), int(r)) for q, c, r in keys.itertuples(index=False)]
