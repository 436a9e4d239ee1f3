"""Models, temperatures or conditions compared on the same questions: the tables of the page `models`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from dsqa.report.attempts import NotAvailable, found, refusals
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, coverage_notes, is_missing, p_text
from dsqa.stats import ModelComparison

__all__ = [
    "compared_answers",
    "compared_differences",
    "compared_effects",
    "compared_equivalence",
    "compared_means",
    "compared_overall",
]

Results = Mapping[str, ModelComparison | NotAvailable]

_NAMES = {"accuracy": "Accuracy", "instability": "Instability σ̄", "score": "Mean score"}
_SCALES = {"accuracy": "share of runs that are right, 0 to 1", "instability": "0 to 1", "score": "0 to 3"}
_EFFECTS = (
    "Hedges' g, d_av", "Hedges' g, d_z", "signed ranks", "rank difference", "risk difference", "odds ratio",
    "Cohen's h", "odds ratio within a question", "McNemar, majority", "McNemar, first run", "McNemar, runs",
)  # fmt: skip


def compared_answers(page: Page, results: Results) -> Markdown:
    """Return what each comparison comes to, in sentences, and why others are not available."""
    lines = [f"- **{_NAMES.get(name, name)}.** {escape(result.answer)}" for name, result in found(results).items()]
    parts = ["\n".join(lines), str(refusals(results))]
    for result in list(found(results).values())[:1]:
        if result.paired.left_out or result.paired.blocks_left_out:
            parts.append(
                f"Left out, because not everyone has runs there: {count(result.paired.left_out, 'question')} wholly, "
                f"{count(result.paired.blocks_left_out, 'block')} (question at one value of what is held equal)."
            )
    return Markdown("\n\n".join(part for part in parts if part))


def compared_means(page: Page, results: Results, name: str) -> Markdown | None:
    """Return each label's mean with its interval, what failed runs could do to it, and how likely it is best."""
    rows = []
    for measure, result in found(results).items():
        table = result.table
        for label in result.paired.labels:
            own = table[table["first"] == label]
            mean, best = _row(own, "mean"), _row(own, "probability of being best")
            bounds = _row(own, "mean, whatever failed runs would have been")
            rows.append(
                {
                    "measure": f"{_NAMES[measure]} ({_SCALES[measure]})",
                    "label": label,
                    "mean": mean.get("estimate"),
                    "low": mean.get("low"),
                    "high": mean.get("high"),
                    "worst": bounds.get("low"),
                    "best_case": bounds.get("high"),
                    "first": best.get("estimate"),
                    "rank": _rank(_row(own, "rank")),
                    "why": mean.get("note"),
                }
            )
    if not rows:
        return None
    compared = next(iter(found(results).values()))
    level = _level(results)
    fields = [
        Field("label", name.capitalize(), "text", width=22),
        Field("mean", f"Mean, {level} interval", low="low", high="high", missing_from="why", width=26),
        Field(
            "worst", "Failed runs at worst and best", low="worst", high="best_case", interval_only=True, digits=3,
            note="The mean had every run that was lost to the infrastructure been as bad, and as good, as can be.",
            missing="not known which runs failed", width=20,
        ),
        Field("first", "P(best)", digits=3, missing="one question says nothing of others", width=10),
        Field("rank", f"Rank, {level}", "text", missing="one question says nothing of others", width=10),
    ]  # fmt: skip
    caption = (
        f"Means over {count(len(compared.paired.questions), 'question')}, each {name} on the same ones. Intervals: "
        f"{_method(compared, 'mean')}. P(best): share of resamples of questions and runs in which it "
        "comes first."
    )
    frame = pd.DataFrame(rows)
    return data_table(
        frame, fields, label=f"tbl-models-{name}-means", caption=caption, group="measure",
        notes=coverage_notes(frame, "low", "why"),
    )  # fmt: skip


def compared_differences(page: Page, results: Results, name: str) -> Markdown | None:
    """Return every pair's difference: for other questions and for these, with p as it is and adjusted."""

    def build(pair: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        own, these = pair("difference"), pair("difference, these questions")
        return {
            "estimate": own.get("estimate"),
            "low": own.get("low"),
            "high": own.get("high"),
            "these_low": these.get("low"),
            "these_high": these.get("high"),
            "p": own.get("p"),
            "p_adjusted": own.get("p_adjusted"),
            "why": own.get("note"),
            "these_why": these.get("note"),
        }

    frame = _pairs(results, build)
    if frame is None:
        return None
    level = _level(results)
    fields = [
        Field("pair", "First − second", "text", width=24),
        Field("estimate", "Difference", "signed", low="low", high="high", missing_from="why",
              note=f"In brackets the {level} interval for other questions of the kind.", width=24),
        Field("these_low", "These questions", "signed", low="these_low", high="these_high", interval_only=True,
              missing_from="these_why", note=f"{level} interval for other runs of these questions.", width=20),
        Field("p", "$p$", "p", width=9),
        Field("p_adjusted", "$p$, adjusted", "p", width=11),
    ]  # fmt: skip
    first = next(iter(found(results).values()))
    caption = (
        f"Differences between {name}s, paired by question. "
        f"Interval: {_method(first, 'difference').split(';')[0]}; $p$: the two swapped within questions, "
        f"adjusted over the pairs of one measure."
    )
    notes = [
        *coverage_notes(frame, "low", "why", what="Questions like these"),
        *coverage_notes(frame, "these_low", "these_why", what="These questions"),
    ]
    return data_table(
        frame, fields, label=f"tbl-models-{name}-differences", caption=caption, group="measure", notes=notes
    )


def compared_equivalence(page: Page, results: Results, name: str) -> Markdown | None:
    """Return for every pair whether it is equivalent, and which difference this study would have found."""

    def build(pair: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        test, least = pair("equivalence"), pair("smallest detectable difference")
        verdict, _, margin = str(test.get("note") or "").partition(" within ")
        known = not is_missing(test.get("p"))
        return {
            "margin": margin if known else None,
            "low": test.get("low"),
            "high": test.get("high"),
            "p": test.get("p"),
            "verdict": verdict if known else "undecided",
            "least": least.get("estimate"),
            "why": None if known else verdict,
            "least_why": least.get("note"),
        }

    frame = _pairs(results, build)
    if frame is None:
        return None
    paired = next(iter(found(results).values()))
    method = next((str(m) for m in paired.rows("equivalence")["method"] if "interval" in str(m)), "")
    inner = method.rsplit(", ", 1)[-1].replace("interval", "").strip().replace("%", "\u00a0%") or "inner"
    how = next((str(m) for m in paired.rows("smallest detectable difference")["method"] if "power" in str(m)), "")
    fields = [
        Field("pair", "First − second", "text", width=24),
        Field("margin", "Margin", "text", missing_from="why", width=10),
        Field("low", f"{inner} interval", "signed", low="low", high="high", interval_only=True,
              missing_from="why", width=20),
        Field("p", "$p$ of TOST", "p", missing_from="why", width=11),
        Field("verdict", "Verdict", "text", width=13),
        Field("least", "Would be found", digits=3, missing_from="least_why",
              note=f"Smallest true difference that this study would find: {escape(how)}." if how else "", width=14),
    ]  # fmt: skip
    caption = (
        "Equivalence by two one-sided $t$ tests, and what the study was able to see. *Undecided* is the answer of a "
        "study too small for the margin, not evidence of equality."
    )
    return data_table(frame, fields, label=f"tbl-models-{name}-equivalence", caption=caption, group="measure")


def compared_effects(page: Page, results: Results, name: str) -> Markdown | None:
    """Return every effect size and further test of every pair."""
    rows = []
    for measure, result in found(results).items():
        table = result.table
        for row in table[table["quantity"].isin(_EFFECTS)].itertuples():
            rows.append(
                {
                    "group": f"{_NAMES[measure]}: {row.first} against {row.second}",
                    "order": (list(found(results)).index(measure), str(row.first), str(row.second)),
                    "quantity": row.quantity,
                    "estimate": row.estimate,
                    "low": row.low,
                    "high": row.high,
                    "p": row.p,
                    "p_adjusted": row.p_adjusted,
                    "n": row.questions,
                    "method": row.method,
                    "why": row.note if is_missing(row.estimate) else None,
                }
            )
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    frame = frame.sort_values("order", kind="stable", ignore_index=True)
    fields = [
        Field("quantity", "Effect", "text", width=22),
        Field("estimate", f"Estimate, {_level(results)} interval", low="low", high="high", missing_from="why",
              width=24),
        Field("p", "$p$", "p", missing="no test belongs to it", width=9),
        Field("p_adjusted", "$p$, adjusted", "p", missing="no test belongs to it", width=11),
        Field("n", "Pairs", "count", missing="no test belongs to it", width=7),
        Field("method", "Method", "text", width=27),
    ]  # fmt: skip
    caption = (
        f"Effect sizes and further tests between {name}s. Ratios are first over second, all others first minus "
        "second; $p$ values are adjusted over the pairs of one effect, not over the effects: choose one beforehand."
    )
    return data_table(
        frame, fields, label=f"tbl-models-{name}-effects", caption=caption, group="group", classes=("stack",)
    )  # fmt: skip


def compared_overall(page: Page, results: Results, name: str) -> Markdown | None:
    """Return in sentences whether there is any difference at all, for three labels or more."""
    lines = []
    for measure, result in found(results).items():
        if len(result.paired.labels) < 3:
            continue
        for quantity, test in (("Friedman", "Friedman's test"), ("mixed model", "the mixed logistic model")):
            row = _row(result.table, quantity)
            if not row:
                continue
            if is_missing(row.get("p")):
                lines.append(f"- {_NAMES[measure]}, {test}: not available, {escape(row.get('note'))}.")
                continue
            value = f"; Kendall's W {row['estimate']:.2f}" if not is_missing(row.get("estimate")) else ""
            note = escape(str(row.get("note") or "").removesuffix("; Kendall's W"))
            how = escape(str(row["method"]).split(", ", 1)[-1])
            lines.append(f"- {_NAMES[measure]}, {test}: $p$ {_p(row['p'])} ({how}); {note}{value}.")
    if not lines:
        return None
    head = f"Is there any difference between the {name}s at all?"
    return Markdown(f"{head}\n\n" + "\n".join(lines))


def _pairs(
    results: Results, build: Callable[[Callable[[str], dict[str, Any]]], dict[str, Any]]
) -> pd.DataFrame | None:
    rows = []
    for measure, result in found(results).items():
        labels, table = result.paired.labels, result.table
        for i, first in enumerate(labels):
            for second in labels[i + 1 :]:
                own = table[(table["first"] == first) & (table["second"] == second)]
                head = {"measure": _NAMES[measure], "pair": f"{first} − {second}"}
                rows.append(head | build(partial(_row, own)))
    return pd.DataFrame(rows) if rows else None


def _row(table: pd.DataFrame, quantity: str) -> dict[str, Any]:
    """Return the first row of a quantity, or nothing."""
    hits = table[table["quantity"] == quantity]
    return {} if hits.empty else dict(hits.iloc[0])


def _rank(row: Mapping[str, Any]) -> str | None:
    if is_missing(row.get("low")):
        return None
    low, high = float(row["low"]), float(row["high"])
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _method(result: ModelComparison, quantity: str) -> str:
    return escape(next((str(m) for m in result.rows(quantity)["method"] if str(m) != "not available"), "none"))


def _level(results: Results) -> str:
    for result in found(results).values():
        found_level = result.level
        return f"{100 * found_level:g}\u00a0%"
    return ""


def _p(p: Any) -> str:
    text = p_text(p)
    return text if text.startswith("<") else f"= {text}"
