"""Two times at which the same questions were asked: another study, or parts of this one. For the page `drift`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dsqa.errors import ReportError
from dsqa.outcomes import load_outcomes
from dsqa.records import read_records
from dsqa.report.attempts import NO_REPLY, NotAvailable, no_reply
from dsqa.report.markdown import Markdown, code_span, escape
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, listing
from dsqa.sampling.ledger import read_sessions
from dsqa.study import StudyFolder
from dsqa.values import parse_time

__all__ = ["Periods", "periods_of", "periods_text", "sessions_table"]

_KEY = ["question_id", "condition_id", "run"]


@dataclass(frozen=True)
class Periods:
    """Runs asked earlier and later.

    Parameters
    ----------
    old, new
        Their outcome tables.
    old_name, new_name
        What to call them.
    how
        A sentence: how the two were told apart.
    models
        What the endpoint called the models that answered, earlier and later.
    """

    old: pd.DataFrame
    new: pd.DataFrame
    old_name: str
    new_name: str
    how: str
    models: tuple[frozenset[str], frozenset[str]]


def periods_of(page: Page, earlier: str | None = None, split: str | None = None) -> Periods | NotAvailable:
    """Return what is compared: an earlier study with this one, or earlier runs of this study with later ones.

    Parameters
    ----------
    page
        The study.
    earlier
        The folder of an earlier study of the same questions: as it stands, or by its name beside this study's.
    split
        Without `earlier`: the moment (UTC, ISO 8601) that parts earlier runs from later ones. Where it is None too,
        the sessions of sampling are parted where the smaller part is largest; in a study of one session each cell's
        earlier half is set against its later half.

    Raises
    ------
    DsqaError
        There is no such study, it is not marked, or `split` is no moment.
    """
    if no_reply(page):
        return NotAvailable(NO_REPLY)
    if earlier is not None:
        return _studies(page, earlier)
    starts, models = _starts(page)
    known = starts.notna()
    if not known.any():
        return NotAvailable("The records do not say when they were made; give the parameter 'earlier' another study")
    outcomes, starts = page.outcomes[known], starts[known]
    if split is not None:
        moment = _moment(split)
        later, how = starts >= moment, f"Runs sent before and since {_shown(moment)}."
    else:
        later, how = _parted(page, outcomes, starts)
    if later.all() or not later.any():
        side = "later" if later.all() else "earlier"
        return NotAvailable(f"All runs are on the {side} side, so there is nothing to compare them with")
    if not known.all():
        how += f" {count(int((~known).sum()), 'run')} without a time left out."
    seen = models[known]
    parts = frozenset(seen[~later].dropna()), frozenset(seen[later].dropna())
    return Periods(outcomes[~later], outcomes[later], "earlier runs", "later runs", how, parts)


def _studies(page: Page, earlier: str) -> Periods:
    root = page.folder.root.resolve()
    # A report is executed in the study's own folder: 'runs/old' is then as the user sees it, from where runs/ lies.
    tried = [Path(earlier), root.parent / earlier, root.parent.parent / earlier]
    folder = StudyFolder.open(next((path for path in tried if (path / "study.json").is_file()), Path(earlier)))
    if not folder.outcomes_path.is_file():
        raise ReportError("has not been marked yet", path=folder.root, hint=f"run: dsqa score {folder.root}")
    names = folder.describe().name, page.description.name
    if names[0] == names[1]:
        names = f"{names[0]} (earlier)", f"{names[1]} (later)"
    how = "Two studies: runs are compared at the same question, prompt, temperature and, where both have it, model."
    return Periods(
        load_outcomes(folder.outcomes_path), page.outcomes, *names, how, (_answering(folder), _answering(page.folder))
    )


def _answering(folder: StudyFolder) -> frozenset[str]:
    found = (record.response_model for record in read_records(folder.records_path))
    return frozenset(name for name in found if name)


def _starts(page: Page) -> tuple[pd.Series, pd.Series]:
    """Return when each run of the outcome table was sent, and who answered it, missing where unknown."""
    times: dict[tuple[str, str, int], str | None] = {}
    models: dict[tuple[str, str, int], str | None] = {}
    for record in read_records(page.folder.records_path):
        key = (record.question_id, record.condition_id, record.run)
        times[key] = record.started_at
        models[key] = record.response_model
    keys = [(str(q), str(c), int(r)) for q, c, r in page.outcomes[_KEY].itertuples(index=False)]
    index = page.outcomes.index
    return (
        _times(pd.Series([times.get(key) for key in keys], index=index, dtype="object")),
        pd.Series([models.get(key) for key in keys], index=index, dtype="string"),
    )


def _parted(page: Page, outcomes: pd.DataFrame, starts: pd.Series) -> tuple[pd.Series, str]:
    begun = _begins(page)
    session = np.searchsorted(begun, _plain(starts), side="right")
    distinct = sorted(Counter(session.tolist()))
    if len(distinct) > 1:
        smaller = {first: min((session < first).mean(), (session >= first).mean()) for first in distinct[1:]}
        cut = max(smaller, key=lambda first: smaller[first])
        moment = pd.Timestamp(begun[max(int(cut) - 1, 0)], tz="UTC")
        how = (
            f"Sampled in {count(len(distinct), 'session')}: those that began before {_shown(moment)} and those since."
        )
        return pd.Series(session >= cut, index=outcomes.index), how
    order = outcomes.assign(_start=starts).groupby(_KEY[:2])["_start"].rank(method="first")
    size = outcomes.groupby(_KEY[:2])["run"].transform("size")
    how = "Sampled in one session: the half of each cell's runs that was sent first, and the half that was sent last."
    return order > size / 2, how


def _begins(page: Page) -> np.ndarray:
    begun = pd.Series([entry.begun for entry in read_sessions(page.folder.root)], dtype="object")
    return np.sort(_plain(_times(begun).dropna()))


def _times(texts: pd.Series) -> pd.Series:
    moments = pd.Series([parse_time(text) for text in texts], index=texts.index, dtype="object")
    return pd.Series(pd.to_datetime(moments, utc=True))


def _plain(starts: pd.Series) -> np.ndarray:
    return np.asarray(starts.dt.tz_convert(None).to_numpy().astype("datetime64[ns]"))


def _moment(text: str) -> pd.Timestamp:
    found = parse_time(text)
    if found is None:
        raise ReportError(f"'{text}' is no moment", field="split", hint="such as 2026-11-30T12:00 (UTC)")
    return pd.Timestamp(found)


def _shown(moment: pd.Timestamp) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def periods_text(page: Page, periods: Periods | NotAvailable) -> Markdown:
    """Return what is compared with what."""
    if isinstance(periods, NotAvailable):
        return Markdown(escape(f"{periods.reason}."))
    text = (
        f"{escape(periods.how)} **{escape(periods.old_name[:1].upper() + periods.old_name[1:])}**: "
        f"{count(len(periods.old), 'run')} of {count(periods.old['question_id'].nunique(), 'question')}; "
        f"**{escape(periods.new_name)}**: {count(len(periods.new), 'run')} of "
        f"{count(periods.new['question_id'].nunique(), 'question')}."
    )
    old, new = periods.models
    if old and new and old != new:
        text += (
            f" The endpoint named the answering model {listing(map(code_span, sorted(old)))} earlier and "
            f"{listing(map(code_span, sorted(new)))} later."
        )
    return Markdown(text)


def sessions_table(page: Page) -> Markdown | None:
    """Return how runs fared session by session; None where the study was not sampled in several."""
    begun = _begins(page)
    if len(begun) < 2:
        return None
    starts, _ = _starts(page)
    known = starts.notna()
    session = np.searchsorted(begun, _plain(starts[known]), side="right")
    rows = []
    for number, own in page.outcomes[known].assign(_session=session).groupby("_session"):
        rows.append(
            {
                "session": f"{pd.Timestamp(begun[max(int(str(number)) - 1, 0)]):%Y-%m-%d %H:%M}",
                "runs": len(own),
                "failed": float((own["status"].astype("string") == "failed").mean()),
                "accuracy": float(own["accuracy"].astype("Float64").mean()),
                "score": float(own["score"].astype("Float64").mean()),
                "tokens": float(own["tokens_total"].astype("Float64").mean()),
            }
        )
    fields = [
        Field("session", "Session begun (UTC)", "text", width=22),
        Field("runs", "Runs", "count", width=9),
        Field("failed", "Failed", "percent", digits=1, width=10),
        Field("accuracy", "Accuracy", digits=3, width=11),
        Field("score", "Mean score", digits=3, width=12),
        Field("tokens", "Mean tokens", digits=0, width=12),
    ]
    caption = "Session by session, plain means over runs: sessions differ in which questions they asked."
    return data_table(pd.DataFrame(rows), fields, label="tbl-drift-sessions", caption=caption)
