"""The same runs read by several readers (`dsqa score --reader`): for the pages `judges` and `accuracy`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dsqa.report.attempts import NotAvailable, attempt, sentence
from dsqa.report.markdown import Markdown
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, number, percent
from dsqa.stats import krippendorff_alpha, krippendorff_interval, summarise_readers
from dsqa.stats.interval import level_text

__all__ = ["readers_table"]


def readers_table(page: Page, *, level: float, resamples: int, label: str = "tbl-judges-readers") -> Markdown:
    """Return what each reader makes of the runs, and how much of what varies is the reader's; or how to get it."""
    path = page.folder.readers_path
    if not path.is_file():
        return Markdown(
            "The runs were read by one reader. Mark the study again with `dsqa score STUDY --reader all`, and this "
            "section tells how much depends on how an answer is read."
        )
    table = pd.read_parquet(path)
    if table["reader"].nunique() < 2:
        return sentence("the runs were read by one reader")
    summary = attempt(page, summarise_readers, table)
    if isinstance(summary, NotAvailable):
        return sentence(summary.reason)
    wide = table.pivot_table(index=["question_id", "condition_id", "prompt_hash", "run"], columns="reader",
                             values="accuracy", aggfunc="first")  # fmt: skip
    ratings = wide.to_numpy(dtype=np.float64, na_value=np.nan)
    alpha = attempt(page, krippendorff_alpha, ratings)
    ends = attempt(
        page, krippendorff_interval, ratings, clusters=wide.index.get_level_values(0), seed=page.seed, level=level,
        resamples=resamples,
    )  # fmt: skip
    if isinstance(alpha, NotAvailable) or isinstance(ends, NotAvailable):
        agreed = "Right and wrong do not vary, so agreement cannot be told from chance"
    else:
        agreed = f"Krippendorff's α of right and wrong is {number(alpha)}"
        if ends.available:
            agreed += f" ({level_text(level)} interval {number(ends.low)} to {number(ends.high)}, over questions)"
    share = (
        "no score varies within a cell"
        if np.isnan(summary.reader_share)
        else f"{percent(summary.reader_share)} of the variance of scores within cells is the reader's, not the run's"
    )
    text = (
        f"{count(len(summary.readers), 'reader')} of the same {count(summary.runs, 'run')} mark "
        f"{percent(summary.disagreement)} of them differently. {agreed}; {share}."
    )
    rows = pd.DataFrame([{"reader": name, **values} for name, values in summary.readers.items()])
    fields = [
        Field("reader", "Reader", "text", width=20),
        Field("accuracy", "Accuracy", digits=3, width=12),
        Field("unparsed", "Nothing read", "percent", digits=1, width=14),
        Field("sigma", "Mean σ̄", digits=3, missing="no cell has two runs", width=12),
    ]
    caption = "The same runs, read by several readers."
    return Markdown(f"{text}\n\n{data_table(rows, fields, label=label, caption=caption)}")
