"""Where the metrics that an imported study's source holds disagree with ours, and by how much."""

from __future__ import annotations

import gzip
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsqa.errors import ReportError
from dsqa.report.attempts import NotAvailable
from dsqa.report.markdown import Markdown, code_span, escape
from dsqa.report.page import Page
from dsqa.report.source_pairs import MARKS, Pair, pair_metrics, source_values
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, listing, percent
from dsqa.stats.columns import as_floats
from dsqa.stats.interval import FloatArray
from dsqa.stats.method_agreement import MethodAgreement, method_agreement

__all__ = [
    "Sources",
    "read_sources",
    "sources_lead",
    "sources_missing",
    "sources_table",
    "sources_worst",
]

_NONE = "This study was not imported, so there are no marks of another tool to set beside ours"
_EMPTY = "The source of this study holds no metrics, so there is nothing to set beside ours"


@dataclass(frozen=True)
class Sources:
    """The source's metrics beside ours.

    Parameters
    ----------
    pairs
        What is set beside what.
    values
        Metric → its values in the order of `page.outcomes`, NaN where the source has none.
    unpaired
        Metrics that have no counterpart among ours, or no number.
    agreement
        Metric → how it agrees with ours; pairs without a run that has both are left out.
    tolerance
        Share by which two quantities may differ and still count as equal.
    """

    pairs: tuple[Pair, ...]
    values: Mapping[str, FloatArray]
    unpaired: tuple[str, ...]
    agreement: Mapping[str, MethodAgreement]
    tolerance: float


def read_sources(
    page: Page, *, pairs: Mapping[str, str | None] | None = None, tolerance: float = 0.005, level: float = 0.95
) -> Sources | NotAvailable:
    """Read what the source measured, and compare it with ours, run by run.

    Parameters
    ----------
    page
        The study.
    pairs
        Metric of the source → our column, or None to leave it out; by default by meaning.
    tolerance
        Quantities count as equal where they differ by at most this share of the larger; marks must be the same.
    level
        Of the intervals of mean differences.

    Raises
    ------
    ReportError
        The source's metrics cannot be read, or `pairs` names what is not there.
    """
    if not page.folder.source_metrics_path.is_file():
        return NotAvailable(_NONE)
    values = source_values(page.folder, page.outcomes)
    if not values:
        return NotAvailable(_EMPTY)
    chosen = pair_metrics(values, page.outcomes, pairs)
    clusters = page.outcomes["question_id"].astype(str).to_numpy()
    agreement = {}
    for pair in chosen:
        theirs, ours = values[pair.metric], _ours(page, pair)
        both = np.isfinite(theirs) & np.isfinite(ours)
        if both.any():
            allowed = 0.0 if pair.ours in MARKS else tolerance
            agreement[pair.metric] = method_agreement(
                theirs[both], ours[both], clusters[both], tolerance=allowed, level=level
            )
    paired = {pair.metric for pair in chosen}
    return Sources(tuple(chosen), values, tuple(name for name in values if name not in paired), agreement, tolerance)


def _ours(page: Page, pair: Pair) -> FloatArray:
    return as_floats(page.outcomes[pair.ours])


def sources_lead(page: Page, sources: Sources | NotAvailable) -> Markdown:
    """Return the page's first paragraph: what was compared, and where it disagrees most."""
    if isinstance(sources, NotAvailable):
        return Markdown(sources._repr_markdown_())
    if not sources.agreement:
        return Markdown(
            f"The source holds {count(len(sources.values), 'metric')} of its own, and none means what one of ours "
            f"does: {_spans(sources.unpaired)}. The parameter `pairs` sets one beside another."
        )
    marks = [pair for pair in sources.pairs if pair.metric in sources.agreement and pair.ours in MARKS]
    text = (
        f"The source holds {count(len(sources.values), 'metric')} of its own, of which {len(sources.agreement)} "
        "have a counterpart among ours (@tbl-sources-agreement)."
    )
    if marks:
        told = [
            f"{code_span(pair.metric)} and our {code_span(pair.ours)} are the same in "
            f"{percent(sources.agreement[pair.metric].share_equal)} of "
            f"{count(sources.agreement[pair.metric].n, 'run')}"
            for pair in marks
        ]
        text += f" {listing(told)}."
    if sources.unpaired:
        text += f" Without a counterpart: {_spans(sources.unpaired)}."
    return Markdown(text)


def _spans(names: Sequence[str]) -> str:
    return listing(code_span(name) for name in names)


def sources_table(page: Page, sources: Sources | NotAvailable) -> Markdown:
    """Return how each metric agrees with ours."""
    if isinstance(sources, NotAvailable) or not sources.agreement:
        return Markdown("")
    rows = []
    for pair in sources.pairs:
        found = sources.agreement.get(pair.metric)
        if found is None:
            continue
        rows.append({
            "metric": pair.metric, "ours": pair.ours, "paired": pair.why, "n": found.n,
            "theirs": _plain(found.first_mean), "our": _plain(found.second_mean), "difference": found.difference,
            "low": found.interval.low, "high": found.interval.high,
            "limits": f"{_plain(found.limits[0])} to {_plain(found.limits[1])}" if found.n > 1 else None,
            "equal": found.share_equal, "kappa": found.kappa, "why": found.kappa_kind,
        })  # fmt: skip
    fields = [
        Field("metric", "Source", style="text"),
        Field("ours", "Ours", style="text"),
        Field("paired", "Paired", style="text"),
        Field("n", "Runs with both", style="count"),
        Field("theirs", "Source", style="text", spanner="Mean"),
        Field("our", "Ours", style="text", spanner="Mean"),
        Field("difference", "Source − ours [95 %]", low="low", high="high", width=16),
        Field("limits", "Limits of agreement", style="text", missing="one run"),
        Field("equal", "Equal", style="percent"),
        Field("kappa", "κ", digits=2, missing_from="why"),
    ]
    caption = (
        "The source's metrics beside ours, run by run. Quantities count as equal within "
        f"{100 * sources.tolerance:g} %, marks where they are the same."
    )
    return data_table(pd.DataFrame(rows), fields, label="tbl-sources-agreement", caption=caption)


def sources_missing(page: Page, sources: Sources | NotAvailable) -> Markdown:
    """Return how many runs have a metric on one side only."""
    if isinstance(sources, NotAvailable) or not sources.pairs:
        return Markdown("")
    rows = []
    for pair in sources.pairs:
        theirs, ours = np.isfinite(sources.values[pair.metric]), np.isfinite(_ours(page, pair))
        rows.append({
            "metric": pair.metric, "ours": pair.ours, "both": int((theirs & ours).sum()),
            "source": int((theirs & ~ours).sum()), "us": int((~theirs & ours).sum()),
            "neither": int((~theirs & ~ours).sum()),
        })  # fmt: skip
    fields = [
        Field("metric", "Source"),
        Field("ours", "Ours"),
        Field("both", "Both", style="count"),
        Field("source", "Source only", style="count"),
        Field("us", "Ours only", style="count"),
        Field("neither", "Neither", style="count"),
    ]
    caption = "Runs that have a value; only those with both are compared."
    return data_table(pd.DataFrame(rows), fields, label="tbl-sources-missing", caption=caption)


def sources_worst(page: Page, sources: Sources | NotAvailable, *, rows: int = 3) -> Markdown:
    """Return the runs in which each metric differs most from ours, and how to look at them.

    Parameters
    ----------
    page, sources
        As before.
    rows
        At most so many runs per metric.
    """
    if isinstance(sources, NotAvailable):
        return Markdown("")
    found = []
    ids = page.outcomes[["question_id", "condition_id", "run"]].astype(object)
    for pair in sources.pairs:
        theirs, ours = sources.values[pair.metric], _ours(page, pair)
        size = np.abs(theirs - ours)
        if pair.ours not in MARKS:
            # By share, so that long responses are not the only ones listed.
            with np.errstate(divide="ignore", invalid="ignore"):
                size = size / np.maximum(np.abs(theirs), np.abs(ours))
            size[size <= sources.tolerance] = np.nan
        size[size == 0] = np.nan
        worst = np.argsort(-np.nan_to_num(size, nan=-1.0), kind="stable")[:rows]
        for at in worst[np.isfinite(size[worst])]:
            question, condition, run = ids.iloc[int(at)]
            found.append((pair, str(question), str(condition), int(run), theirs[at], ours[at]))
    if not found:
        return Markdown("No run differs by more than the tolerance.")
    places = _places(page, {(question, condition, run) for _, question, condition, run, *_ in found})
    table = pd.DataFrame(
        [
            {
                "metric": pair.metric, "theirs": _plain(theirs), "ours": _plain(ours), "question": escape(question),
                "condition": page.conditions.get(condition, condition), "run": str(run),
                "row": places.get((question, condition, run), ""),
                "show": code_span(_show(page, question, condition, run)),
            }
            for pair, question, condition, run, theirs, ours in found
        ]
    )  # fmt: skip
    fields = [
        Field("question", "Question", style="markdown"),
        Field("condition", "Condition", style="text"),
        Field("run", "Run", style="text"),
        Field("theirs", "Source", style="text"),
        Field("ours", "Ours", style="text"),
        Field("row", "Source row", style="text", missing="not kept"),
        Field("show", "To see it", style="markdown", width=30),
    ]
    return data_table(
        table,
        fields,
        label="tbl-sources-worst",
        caption=f"The runs that disagree most, at most {rows} for each metric.",
        group="metric",
    )


def _plain(value: float) -> str:
    # Metrics of one table have different units, so digits are the number's own and not the column's.
    return f"{value:.4g}".replace("-", "−")


def _show(page: Page, question: str, condition: str, run: int) -> str:
    root = page.folder.root
    return f"dsqa show {shlex.quote(root.as_posix())} -q {shlex.quote(question)} -c {shlex.quote(condition)} -r {run}"


def _places(page: Page, wanted: set[tuple[str, str, int]]) -> dict[tuple[str, str, int], str]:
    """Return where in the source's files some runs stand."""
    path = page.folder.source_rows_path
    places: dict[tuple[str, str, int], str] = {}
    if not path.is_file():
        return {}
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                if len(places) == len(wanted):
                    break
                row = json.loads(line)
                key = (str(row["question_id"]), str(row["condition_id"]), int(row["run"]))
                if key in wanted:
                    places[key] = str(row.get("where", ""))
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise ReportError(f"cannot be read: {error}", path=path, hint="import anew") from None
    return places
