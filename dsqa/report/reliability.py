"""Where the variance of a score comes from, and how reliable one run and the mean of N are: for `reliability`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from dsqa.report.attempts import NotAvailable, attempt, found, refusals, sentence
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, coverage_notes, listing, number, percent
from dsqa.stats import GStudy, RunReliability, run_reliability
from dsqa.stats.interval import level_text

__all__ = [
    "conditions_reliability",
    "crossed_reliability",
    "mean_reliability",
    "reliability_answer",
    "reliability_table",
    "variance_table",
]

Reliabilities = Mapping[str, RunReliability | NotAvailable]

_MANY = 6
_TERMS = {"run": "run (all that nothing else explains)"}


def conditions_reliability(page: Page, metric: str, level: float) -> dict[str, RunReliability | NotAvailable]:
    """Return `dsqa.stats.run_reliability` of each condition, by its label."""
    return {
        label: attempt(
            page, run_reliability, page.outcomes[page.outcomes["condition_id"] == key], value=metric, level=level
        )
        for key, label in page.conditions.items()
    }


def reliability_answer(page: Page, results: Reliabilities, metric: str) -> Markdown:
    """Return in sentences how reliable one run is, and how many make a question's mean reliable."""
    lines = []
    for label, result in found(results).items():
        one, interval = result.of_mean(1)
        text = f"- **{escape(label)}**: one run has the reliability {number(one)}"
        if interval.available:
            text += f" ({level_text(interval.level)} interval {number(interval.low)} to {number(interval.high)})"
        runs = round(result.typical_runs)
        if runs > 1:
            text += f", the mean of {runs:,} has {number(result.of_mean(runs)[0])}"
        enough = result.runs_for(0.9)
        text += (
            "; questions differ no more than their own runs do, so no number of runs tells them apart."
            if enough is None
            else f"; 0.90 takes {count(enough, 'run')} per question."
        )
        lines.append(text)
    if not lines:
        return refusals(results)
    head = f"How reliably the {'mean score' if metric == 'score' else 'accuracy'} tells questions apart:"
    return Markdown("\n\n".join(part for part in (head, "\n".join(lines), str(refusals(results))) if part))


def reliability_table(page: Page, results: Reliabilities, targets: Sequence[float]) -> Markdown | None:
    """Return variances, reliability of one run and of the mean of N, and the runs that each target takes."""
    rows = []
    for label, result in found(results).items():
        one, interval = result.of_mean(1)
        runs = max(1, round(result.typical_runs))
        mean, mean_interval = result.of_mean(runs)
        rows.append(
            {
                "condition": label,
                "questions": result.questions,
                "between": result.between,
                "within": result.within,
                "one": one,
                "one_low": interval.low,
                "one_high": interval.high,
                "runs": runs,
                "mean": mean,
                "mean_low": mean_interval.low,
                "mean_high": mean_interval.high,
                "why": interval.note or None,
                **{f"for_{target:g}": result.runs_for(target) for target in targets},
            }
        )
    if not rows:
        return None
    level = next(iter(found(results).values())).f_interval.level
    over = f"Reliability, {level_text(level)} interval"
    fields = [
        Field("condition", "Condition", "text", width=18),
        Field("questions", "Questions", "count", width=9),
        Field("between", "Between questions", digits=4, spanner="Variance", width=11),
        Field("within", "Between runs", digits=4, spanner="Variance", width=11),
        Field("one", "One run", low="one_low", high="one_high", spanner=over, width=20),
        Field("mean", "Mean of N", low="mean_low", high="mean_high",
              spanner=over, width=20),
        Field("runs", "N", "count", width=6),
        *(
            Field(f"for_{target:g}", f"for {target:g}", "count", spanner="Runs",
                  missing="questions differ no more than their runs: no number of runs is enough", width=8)
            for target in targets
        ),
    ]  # fmt: skip
    caption = (
        "One condition at a time: questions by runs. A variance below 0 is the estimate of a small one and counts as "
        "0. Interval: jackknife over questions."
    )
    frame = pd.DataFrame(rows)
    return data_table(
        frame, fields, label="tbl-reliability-conditions", caption=caption, classes=("stack",),
        notes=coverage_notes(frame, "one_low", "why"),
    )  # fmt: skip


def mean_reliability(
    page: Page, results: Reliabilities, runs: Sequence[int], questions: int | None
) -> Markdown | None:
    """Return, per condition and number of runs, the reliability of the mean and its standard errors (a D-study)."""
    rows = []
    for label, result in found(results).items():
        asked = questions or result.questions
        endless = (max(result.between, 0.0) / asked) ** 0.5
        for n in runs:
            value, interval = result.of_mean(n)
            rows.append(
                {
                    "condition": f"{label}, means over {count(asked, 'question')}",
                    "runs": n,
                    "value": value,
                    "low": interval.low,
                    "high": interval.high,
                    "question": result.error_of_question(n),
                    "mean": result.error_of_mean(asked, n),
                    "limit": result.error_of_mean(asked, n) / endless if endless > 0 else None,
                }
            )
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    fields = [
        Field("runs", "Runs per question", "count", width=12),
        Field("value", "Reliability", low="low", high="high", width=26),
        Field("question", "SE of a question's mean", digits=3, note="For this very question.", width=18),
        Field("mean", "SE of the overall mean", digits=4, note="Over questions like these.", width=18),
        Field("limit", "Against endless runs", digits=2,
              note="That standard error over the one of endlessly many runs, which questions alone make.",
              missing="questions do not differ", width=16),
    ]  # fmt: skip
    caption = "What more runs buy: reliability of a question's mean, and standard errors, for the next study."
    return data_table(
        frame, fields, label="tbl-reliability-dstudy", caption=caption, group="condition", sortable=False
    )


def variance_table(page: Page, study: GStudy | NotAvailable, errors: Mapping[str, float] | NotAvailable) -> Markdown:
    """Return the variance components of the crossed design, with jackknife standard errors."""
    if isinstance(study, NotAvailable):
        return sentence(study.reason)
    table = attempt(page, study.table)
    if isinstance(table, NotAvailable):
        return sentence(table.reason)
    known = {} if isinstance(errors, NotAvailable) else errors
    frame = table.assign(
        name=[_TERMS.get(term, term.replace(":", " × ")) for term in table["term"]],
        se=[known.get(term, float("nan")) for term in table["term"]],
    )
    why = errors.reason if isinstance(errors, NotAvailable) else "not estimated"
    fields = [
        Field("name", "Source", "text", width=30),
        Field("levels", "Levels", "count", width=9),
        Field("variance", "Variance", digits=5, width=14),
        Field("se", "Std. Error", digits=5, missing=escape(why), width=14),
        Field("share", "Share", "percent", digits=1, width=10),
    ]
    caption = (
        f"Variance components of {count(study.runs, 'run')}, MIVQUE(0); standard errors by leaving out one question "
        "at a time. Components below 0 count as 0 in the shares."
    )
    few = [
        f"{name} ({levels:,})" for name, levels in study.levels.items() if name != study.subject and levels < _MANY
    ]
    notes = [
        f"Few levels: {listing(few)}. The standard errors come of leaving out questions: they say how sure the "
        "variance between these very levels is, and nothing of other ones; one between two rests on one difference."
    ] if few else []  # fmt: skip
    return data_table(frame, fields, label="tbl-reliability-components", caption=caption, notes=notes, sortable=False)


def crossed_reliability(page: Page, study: GStudy | NotAvailable, runs: Sequence[int]) -> Markdown | None:
    """Return both coefficients of the crossed design: over one condition drawn at random, and over all."""
    if isinstance(study, NotAvailable):
        return None
    facets = {name: levels for name, levels in study.levels.items() if name != study.subject}
    if not facets:
        return None
    designs: list[tuple[str, dict[str, int]]] = [
        ("one of each", dict.fromkeys(facets, 1)),
        ("all of the study", facets),
    ]
    rows = []
    for name, levels in designs:
        what = ", ".join(count(number_, facet) for facet, number_ in levels.items())
        for n in runs:
            relative = attempt(page, study.generalisability, **levels, run=n)
            absolute = attempt(page, study.dependability, **levels, run=n)
            if isinstance(relative, NotAvailable) or isinstance(absolute, NotAvailable):
                return None
            error = study.error_variance(absolute=True, **levels, run=n) ** 0.5
            rows.append(
                {"design": f"Mean over {name}: {what}", "runs": n, "e": relative, "phi": absolute, "se": error}
            )
    fields = [
        Field("runs", "Runs per cell", "count", width=12),
        Field(
            "e", "E ρ²", digits=3, note="Generalisability: do the means put questions in the right order?", width=12
        ),
        Field("phi", "Φ", digits=3, note="Dependability: are the means right as values?", width=12),
        Field(
            "se", "Absolute SE", digits=3, note="Of a question's mean, for other conditions of the kind.", width=14
        ),
    ]
    ceiling = study.dependability(**facets, run=10**9)
    caption = (
        "Coefficients for means that are to hold for other models and temperatures than those asked. More runs alone "
        f"cannot bring Φ above {percent(ceiling)} with the conditions of this study."
    )
    return data_table(
        pd.DataFrame(rows), fields, label="tbl-reliability-crossed", caption=caption, group="design", sortable=False
    )
