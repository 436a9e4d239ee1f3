"""What became of every run: the ledger, how the code fared, what it ran under."""

from __future__ import annotations

import pandas as pd

from dsqa.report.markdown import Column, Markdown, code_span, escape, table
from dsqa.report.page import Page
from dsqa.report.wording import count, listing

__all__ = ["execution_table", "isolation_text", "ledger_table"]

_STATUSES = ("answered", "truncated", "refused", "empty", "filtered", "failed")
_EXECUTIONS = (
    "ran, right", "ran, wrong", "failed", "does not parse", "other language", "missing package", "timed out",
    "killed by memory", "blocked", "no code",
)  # fmt: skip


def ledger_table(page: Page) -> Markdown:
    """Return the ledger: a row per condition, a column per status, and the runs without a readable answer."""
    rows = [
        [escape(label), *_ledger_row(page.outcomes[page.outcomes["condition_id"] == condition])]
        for condition, label in page.conditions.items()
    ]
    if len(rows) > 1:
        rows.append(["**All**", *_ledger_row(page.outcomes)])
    columns = [Column("Condition", width=16), Column("Runs", "right", 8)]
    columns += [Column(status.capitalize(), "right", 11) for status in _STATUSES]
    columns.append(Column("No answer read", "right", 11))
    caption = (
        "What became of each run. The six statuses add up to the runs; all stay in every denominator. "
        "Truncated: cut at the token limit. Refused: the model declined. Empty: a reply without text. Filtered: "
        "stopped by the endpoint's content filter. Failed: no reply after all retries. No answer read: no "
        "result in the expected format was found, whatever the status."
    )
    return table(columns, rows, label="tbl-ledger", caption=caption, classes=("stack",))


def _ledger_row(rows: pd.DataFrame) -> list[str]:
    statuses = rows["status"].value_counts()
    unread = int((rows["answer_status"] == "unparsed").sum())
    return [f"{len(rows):,}", *(f"{int(statuses.get(name, 0)):,}" for name in _STATUSES), f"{unread:,}"]


def execution_table(page: Page) -> Markdown:
    """Return how the code in the responses fared: a row per outcome of running it, a column per condition."""
    known = page.outcomes["execution"].astype(str)
    seen = [*(name for name in _EXECUTIONS if (known == name).any())]
    seen += sorted(set(known[~known.isin(_EXECUTIONS)]))
    by_condition = {key: known[page.outcomes["condition_id"] == key] for key in page.conditions}
    rows = []
    for name in seen:
        rows.append([escape(name), *(f"{int((values == name).sum()):,}" for values in by_condition.values())])
    columns = [Column("Outcome of the code", width=24)]
    columns += [Column(escape(label), "right", 14) for label in page.conditions.values()]
    caption = "How the code in the responses fared when it was run afresh: number of runs per condition."
    return table(columns, rows, label="tbl-execution", caption=caption, classes=("whole",))


def isolation_text(page: Page) -> Markdown:
    """Return in a sentence or two what generated code ran under."""
    known = page.outcomes[page.outcomes["isolation"].notna()]
    used = known["isolation"].astype(str).value_counts(sort=False).sort_index()
    if used.empty:
        return Markdown("No generated code was run.")
    parts = listing(f"{code_span(name)} ({count(int(n), 'run')})" for name, n in used.items())
    text = f"Isolation of generated code: {parts}."
    idle = int((known["execution"] == "does not parse").sum())
    if idle:
        text += f" Of these, the code of {count(idle, 'run')} does not parse, so it never started."
    return Markdown(text)
