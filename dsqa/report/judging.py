"""Marks of people, judges and readers, and how far they agree: the tables of the page `judges`."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from dsqa.report.attempts import NotAvailable, attempt, sentence
from dsqa.report.markdown import Markdown, code_span, escape
from dsqa.report.marks import OURS, Criterion, Marks
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, coverage_notes, listing, number
from dsqa.stats import (
    agreement_interval,
    cohen_kappa,
    g_study,
    gwet_ac,
    icc,
    krippendorff_alpha,
    krippendorff_interval,
)
from dsqa.stats.interval import FloatArray, Interval, level_text

__all__ = ["agreement_table", "mark_variance", "marks_answer", "rater_pairs", "rater_table"]

_FEWEST = 2


def marks_answer(page: Page, marks: Marks | NotAvailable) -> Markdown:
    """Return in sentences what was marked by whom, and how far they agree."""
    if isinstance(marks, NotAvailable):
        return sentence(marks.reason)
    people = sorted({rater for criterion in marks.criteria for rater in criterion.raters} - {OURS})
    runs = pd.concat([criterion.units for criterion in marks.criteria]).drop_duplicates()
    text = (
        f"{count(marks.given, 'mark')} of {listing(escape(name) for name in people)} on {count(len(runs), 'run')} of "
        f"{count(runs['question_id'].nunique(), 'question')}, by "
        f"{count(len(marks.criteria), 'criterion', 'criteria')} ({code_span(marks.source)})."
    )
    lines = []
    for criterion in marks.criteria:
        alpha = attempt(page, krippendorff_alpha, criterion.matrix, _measurement(criterion))
        said = (
            f"not available, {escape(alpha.reason)}"
            if isinstance(alpha, NotAvailable)
            else f"Krippendorff's α {number(alpha)}"
        )
        lines.append(f"- **{escape(criterion.name)}**, {listing(map(escape, criterion.raters))}: {said}.")
    return Markdown(text + "\n\n" + "\n".join(lines))


def agreement_table(page: Page, marks: Marks | NotAvailable, *, level: float, resamples: int) -> Markdown | None:
    """Return the agreement of all raters of a criterion: share alike, α, ICC, each with its interval."""
    if isinstance(marks, NotAvailable):
        return None
    rows = []
    for criterion in marks.criteria:
        several = np.isfinite(criterion.matrix).sum(axis=1) >= _FEWEST
        own = criterion.matrix[several]
        alike = [float(np.nanmax(row) == np.nanmin(row)) for row in own]
        kind = _measurement(criterion)
        alpha = attempt(page, krippendorff_alpha, criterion.matrix, kind)
        interval = attempt(
            page, krippendorff_interval, criterion.matrix, kind, clusters=criterion.clusters, seed=page.seed,
            level=level, resamples=resamples,
        )  # fmt: skip
        ac = attempt(page, gwet_ac, criterion.matrix, weights="quadratic" if criterion.numeric else "none")
        rated = np.isfinite(criterion.matrix).all(axis=1)
        complete, owners = criterion.matrix[rated], np.asarray(criterion.clusters)[rated]
        form: float | NotAvailable = NotAvailable("categories, or yes and no: alpha is for these")
        if criterion.numeric:
            form = attempt(page, _icc, complete)
        form_interval = (
            form if isinstance(form, NotAvailable) else _left_out(page, complete, _icc, owners, level, kind="ICC")
        )
        rows.append(
            {
                "criterion": criterion.name,
                "raters": len(criterion.raters),
                "runs": int(several.sum()),
                "alike": float(np.mean(alike)) if alike else None,
                "kind": kind,
                **_coefficient("alpha", alpha, interval),
                "ac": None if isinstance(ac, NotAvailable) else ac,
                "ac_why": ac.reason if isinstance(ac, NotAvailable) else None,
                **_coefficient("icc", form, form_interval),
            }
        )
    fields = [
        Field("criterion", "Criterion", "text", width=18),
        Field("raters", "Raters", "count", width=7),
        Field("runs", "Runs marked twice", "count", width=11),
        Field("alike", "All alike", "percent", digits=0, missing="no run has two marks", width=9),
        Field("kind", "Marks", "text", width=10),
        _shown("alpha", f"Krippendorff's α, {level_text(level)} interval"),
        Field("ac", "AC1, AC2", digits=2, missing_from="ac_why", width=9,
              note="Gwet's coefficient, quadratic weights for numbers: it does not fall where one mark is common."),
        _shown("icc", "ICC(2,1)"),
    ]  # fmt: skip
    caption = (
        "Agreement of all raters of a criterion. α corrects for agreement by chance and allows for missing marks; "
        "interval: jackknife over questions, whose runs are left out together. ICC(2,1): absolute agreement of "
        "single raters on runs that all of them marked, for other questions and these raters."
    )
    frame = pd.DataFrame(rows)
    notes = [
        *coverage_notes(frame, "alpha_low", "alpha_note", what="Intervals of α"),
        *coverage_notes(frame, "icc_low", "icc_note", what="Intervals of the ICC"),
    ]
    return data_table(
        frame, fields, label="tbl-judges-agreement", caption=caption, notes=notes, classes=("stack",)
    )  # fmt: skip


def rater_pairs(page: Page, marks: Marks | NotAvailable, *, level: float, resamples: int) -> Markdown | None:
    """Return how every two raters of a criterion agree: share alike, Cohen's κ, and the difference of their means."""
    if isinstance(marks, NotAvailable):
        return None
    rows = []
    for criterion in marks.criteria:
        weights = "quadratic" if criterion.numeric else "none"

        def kappa(pair: FloatArray, weights: Any = weights) -> float:
            return cohen_kappa(pair[:, 0], pair[:, 1], weights=weights)

        for i, j in combinations(range(len(criterion.raters)), 2):
            pair, clusters = criterion.both(i, j)
            value = attempt(page, kappa, pair)
            interval = _left_out(page, pair, kappa, clusters, level)
            row = {
                "criterion": criterion.name,
                "pair": f"{criterion.raters[i]} and {criterion.raters[j]}",
                "runs": len(pair),
                "alike": float((pair[:, 0] == pair[:, 1]).mean()) if len(pair) else None,
                **_coefficient("kappa", value, interval),
            }
            words = criterion.words
            shift = NotAvailable("categories have no mean") if words else _shift(page, pair)
            ends = shift if words else _left_out(page, pair, _gap, clusters, level, plain=True)
            rows.append(row | _coefficient("shift", shift, ends))
    if not rows:
        return sentence("every criterion has one rater: nobody can be compared with anybody")
    fields = [
        Field("pair", "Raters", "text", width=22),
        Field("runs", "Runs", "count", width=7),
        Field("alike", "Alike", "percent", digits=0, missing="no run has both marks", width=8),
        _shown("kappa", f"Cohen's κ, {level_text(level)} interval"),
        _shown("shift", "First − second", style="signed"),
    ]
    caption = (
        "Two raters at a time. κ: unweighted for yes and no and for categories, quadratic weights for numbers. First "
        "− second: difference of their means on the same runs, how much stricter one is. Intervals: jackknife over "
        "questions."
    )
    return data_table(
        pd.DataFrame(rows), fields, label="tbl-judges-pairs", caption=caption, group="criterion", classes=("stack",)
    )


def rater_table(page: Page, marks: Marks | NotAvailable) -> Markdown | None:
    """Return each rater's marks: how many, their mean and spread."""
    if isinstance(marks, NotAvailable):
        return None
    rows = []
    for criterion in marks.criteria:
        words = criterion.words
        for name, column in zip(criterion.raters, criterion.matrix.T, strict=True):
            known = column[np.isfinite(column)]
            rows.append(
                {
                    "criterion": criterion.name,
                    "rater": name,
                    "marks": known.size,
                    "mean": None if words or not known.size else float(known.mean()),
                    "sd": None if words or known.size < _FEWEST else float(known.std(ddof=1)),
                }
            )
    fields = [
        Field("rater", "Rater", "text", width=24),
        Field("marks", "Marks", "count", width=9),
        Field("mean", "Mean", digits=3, missing="categories have no mean", width=10),
        Field("sd", "SD", digits=3, missing="one mark, or categories", width=10),
    ]
    frame = pd.DataFrame(rows).astype({"mean": "float64", "sd": "float64"})
    return data_table(frame, fields, label="tbl-judges-raters", caption="Who marked what.", group="criterion")


def mark_variance(page: Page, marks: Marks | NotAvailable) -> Markdown | None:
    """Return, per numeric criterion, how much of the variance of marks is the questions', the runs', the raters'."""
    if isinstance(marks, NotAvailable):
        return None
    rows = []
    for criterion in marks.criteria:
        if criterion.words:
            continue
        cells = criterion.units.astype(str).agg("/".join, axis=1)
        long = pd.DataFrame(criterion.matrix, columns=list(criterion.raters)).assign(
            question=criterion.clusters, response=cells.to_numpy()
        )
        long = long.melt(["question", "response"], var_name="rater", value_name="mark").dropna(subset="mark")
        study = attempt(
            page, g_study, long, value="mark",
            facets={"question": "question", "rater": "rater", "response": "response"},
            terms=["question", "rater", "question:rater", "response"],
        )  # fmt: skip
        shares = study if isinstance(study, NotAvailable) else attempt(page, study.shares)
        if isinstance(study, NotAvailable) or isinstance(shares, NotAvailable):
            continue
        for term, value in study.components.items():
            row = {"criterion": criterion.name, "source": _SOURCES[term], "variance": value, "share": shares[term]}
            rows.append(row)
    if not rows:
        return None
    fields = [
        Field("source", "Source", "text", width=44),
        Field("variance", "Variance", digits=4, width=14),
        Field("share", "Share", "percent", digits=0, width=10),
    ]
    caption = "Where the variance of marks comes from (MIVQUE(0)); estimates below 0 count as 0 in the shares."
    return data_table(
        pd.DataFrame(rows), fields, label="tbl-judges-variance", caption=caption, group="criterion", sortable=False
    )


_SOURCES = {
    "question": "question",
    "rater": "rater (one is stricter than another)",
    "question:rater": "question × rater (stricter on some questions)",
    "response": "run (within a question)",
    "run": "rest: rater × run",
}


def _measurement(criterion: Criterion) -> Any:
    return "interval" if criterion.numeric else "nominal"


def _left_out(
    page: Page,
    pair: FloatArray,
    coefficient: Callable[[FloatArray], float],
    clusters: np.ndarray,
    level: float,
    *,
    plain: bool = False,
    kind: str = "agreement",
) -> Interval | NotAvailable:
    if not len(pair):
        return NotAvailable("no run has both marks")
    how: dict[str, Any] = {"kind": kind}
    if plain:
        how |= {"scale": "plain", "bounds": (-math.inf, math.inf)}
    return attempt(page, agreement_interval, pair, coefficient, clusters=clusters, level=level, **how)


def _icc(matrix: FloatArray) -> float:
    return icc(matrix, "2,1").value


def _gap(pair: FloatArray) -> float:
    return float((pair[:, 0] - pair[:, 1]).mean())


def _shift(page: Page, pair: FloatArray) -> float | NotAvailable:
    return _gap(pair) if len(pair) else NotAvailable("no run has both marks")


def _coefficient(name: str, value: Any, interval: Any) -> dict[str, Any]:
    """Return a value with its interval as columns of a row; where there is none, why."""
    known = not isinstance(value, NotAvailable)
    ends = interval if known and isinstance(interval, Interval) and interval.available else None
    return {
        name: float(value) if known else np.nan,
        f"{name}_low": np.nan if ends is None else ends.low,
        f"{name}_high": np.nan if ends is None else ends.high,
        f"{name}_why": None if known else value.reason,
        f"{name}_note": None if ends is None else ends.note or None,
    }


def _shown(name: str, title: str, style: Any = "number") -> Field:
    return Field(
        name, title, style, low=f"{name}_low", high=f"{name}_high", missing_from=f"{name}_why", digits=2, width=24
    )
