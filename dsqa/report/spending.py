"""What a study took: tokens, money and time, by condition and by session. For the reproducibility appendix."""

from __future__ import annotations

from collections import defaultdict

import pandas as pd

from dsqa.prices import cost_of, format_money, recorded_prices
from dsqa.records import read_records, usage_counts
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count
from dsqa.sampling.ledger import read_sessions

__all__ = ["spending_table"]


def spending_table(page: Page) -> Markdown:
    """Return requests, tokens, money and seconds of each condition's recorded runs, and how long sampling took.

    Tokens are those the endpoint reported, money by the prices in the study's folder (`dsqa.prices.cost_of`);
    unknown ones are counted, never taken for 0.
    """
    prices = recorded_prices(page.folder.root)
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    money: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for record in read_records(page.folder.records_path):
        own, counts, cost = sums[record.condition_id], usage_counts(record.usage), cost_of(record, prices)
        own["runs"] += 1
        own["retries"] += record.retries or 0
        own["seconds"] += record.seconds or 0.0
        if counts.prompt is None or counts.completion is None:
            own["uncounted"] += 1
        else:
            own["tokens_in"] += counts.prompt
            own["tokens_out"] += counts.completion
        if cost is None:
            own["unpriced"] += 1
        else:
            money[record.condition_id][cost.currency] += cost.amount
    rows = []
    for key, label in page.conditions.items():
        own = sums[key]
        counted = own["runs"] > own["uncounted"]
        priced = own["runs"] > own["unpriced"]
        amounts = ", ".join(format_money(amount, currency) for currency, amount in money[key].items() if amount)
        rows.append(
            {
                "condition": label,
                "runs": own["runs"],
                "retries": own["retries"],
                "tokens_in": own["tokens_in"] if counted else None,
                "tokens_out": own["tokens_out"] if counted else None,
                "cost": (amounts or "0") if priced else None,
                "hours": own["seconds"] / 3600,
                "uncounted": own["uncounted"],
                "unpriced": own["unpriced"],
            }
        )
    frame = pd.DataFrame(rows).astype({"tokens_in": "float64", "tokens_out": "float64"})
    fields = [
        Field("condition", "Condition", "text", width=20),
        Field("runs", "Runs", "count", width=9),
        Field("retries", "Retries", "count", width=9),
        Field("tokens_in", "Tokens in", "count", missing="the endpoint did not say", width=12),
        Field("tokens_out", "Tokens out", "count", missing="the endpoint did not say", width=12),
        Field("cost", "Cost", "text", missing="no price is known (prices.yaml)", width=12),
        Field("hours", "Hours of responses", digits=2, note="Summed over runs, many of which ran at once.", width=14),
    ]
    notes = []
    for name, what in (("uncounted", "token counts"), ("unpriced", "a known cost")):
        lacking = int(frame[name].sum())
        if 0 < lacking < int(frame["runs"].sum()):
            notes.append(f"{count(lacking, 'run')} without {what} left out of the sums.")
    caption = f"What the recorded runs took. {escape(_wall(page))}"
    return data_table(frame, fields, label="tbl-spending", caption=caption, notes=notes, classes=("stack",))


def _wall(page: Page) -> str:
    sessions = read_sessions(page.folder.root)
    if not sessions:
        return "No account of sampling sessions is kept with this study, so the wall time is not known."
    seconds = sum(session.wall_seconds for session in sessions)
    tries = sum(session.requests for session in sessions)
    return (
        f"Sampling took {_duration(seconds)} of wall time in {count(len(sessions), 'session')}, with "
        f"{count(tries, 'request')} sent."
    )


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
