"""How much of accuracy is a matter of reading answers: other readers, other conventions, text against code."""

from __future__ import annotations

import pandas as pd

from dsqa.outcomes import READER_COLUMNS
from dsqa.report.attempts import NO_REPLY, no_reply, sentence
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, listing, percent
from dsqa.stats.readers import summarise_readers

__all__ = ["accuracy_conventions", "accuracy_readers"]


def accuracy_readers(page: Page) -> Markdown:
    """Return what each reader of answers makes of the same runs, where `dsqa score --reader` was used."""
    if no_reply(page):
        return sentence(NO_REPLY)
    path = page.folder.root / "readers.parquet"
    if not path.is_file():
        return Markdown(
            "The answers were read in one way. `dsqa score STUDY --reader all` reads them in others too, and this "
            "section then says what that changes."
        )
    found = pd.read_parquet(path, columns=[column.name for column in READER_COLUMNS])
    runs = page.outcomes[["question_id", "condition_id", "prompt_hash", "run"]]
    found = found.merge(runs, on=list(runs.columns))
    if found.empty or found["accuracy"].isna().any() or found["reader"].nunique() < 2:
        return Markdown(
            "The file `readers.parquet` does not hold two readings of these runs with marks; "
            "`dsqa score STUDY --reader all` writes it anew."
        )
    summary = summarise_readers(found)
    rows = pd.DataFrame([{"reader": name, **values} for name, values in summary.readers.items()])
    fields = [
        Field("reader", "Reader", "text", width=20),
        Field("accuracy", "Accuracy over runs", "percent", digits=1, width=14),
        Field("unparsed", "Nothing read", "percent", digits=1, width=14),
        Field("sigma", "Mean σ̄ over cells", digits=3, missing="no cell has two runs", width=14),
    ]
    caption = f"The same {count(summary.runs, 'run')} read by {count(len(rows), 'reader')}."
    made = data_table(rows, fields, label="tbl-accuracy-readers", caption=caption)
    share = (
        "no score varies within a cell"
        if pd.isna(summary.reader_share)
        else f"{percent(summary.reader_share)} of the variance of scores within cells is the reader's"
    )
    spread = rows["accuracy"].max() - rows["accuracy"].min()
    text = (
        f"Readers mark {percent(summary.disagreement)} of runs differently; {share}. Between the most and the least "
        f"lenient reader accuracy differs by {100 * spread:.1f} percentage points."
    )
    return Markdown(f"{made}\n\n{text}")


def accuracy_conventions(page: Page) -> Markdown:
    """Return how many wrong runs are right under another convention, and how many contradict themselves."""
    if no_reply(page):
        return sentence(NO_REPLY)
    named = page.outcomes["answer_convention"].dropna().astype(str)
    parts = []
    if named.empty:
        parts.append("No wrong answer is right under another convention that is known.")
    else:
        kinds = named.value_counts().sort_index().sort_values(ascending=False, kind="stable").head(5)
        parts.append(
            f"{count(len(named), 'wrong run')} would be right under another convention: "
            f"{listing(f'{escape(name)} ({n:,})' for name, n in kinds.items())}. They are marked wrong; whether the "
            "question says which convention it wants is for its author to judge."
        )
    conflict = int(page.outcomes["answer_conflict"].fillna(False).astype(bool).sum())
    parts.append(
        f"In {count(conflict, 'run')} the text and the executed code gave different answers; "
        "the protocol counts what running the code gave."
        if conflict
        else "In no run did the text and the executed code give different answers."
    )
    return Markdown(" ".join(parts))
