"""How each interval for instability came about, counted over the study's cells."""

from __future__ import annotations

from dsqa.report.markdown import Column, Markdown, escape, table
from dsqa.report.page import Page
from dsqa.report.wording import count

__all__ = ["interval_table"]


def interval_table(page: Page) -> Markdown:
    """Return which interval for instability was used, and for how many cells."""
    methods = page.cells["instability_method"].fillna("not available").astype(str)
    used = methods.value_counts(sort=False).sort_index()
    rows = [[escape(name), f"{int(n):,}"] for name, n in used.items()]
    caption = (
        f"The interval for instability, by the way it was made, over {count(len(page.cells), 'cell')}. "
        f"Bootstrap: {page.resamples:,} resamples where not enumerated, seed {page.seed}."
    )
    columns = [Column("Interval", width=60), Column("Cells", "right", 12)]
    return table(columns, rows, label="tbl-intervals", caption=caption, classes=("whole",))
