"""What changed between two times, and what could have been seen: the tables of the page `drift`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import pandas as pd

from dsqa.report.attempts import NotAvailable, attempt, sentence
from dsqa.report.digits import fixed
from dsqa.report.markdown import Markdown, escape
from dsqa.report.page import Page
from dsqa.report.periods import Periods
from dsqa.report.tables import Field, data_table
from dsqa.report.wording import count, p_text, percent
from dsqa.stats import Drift, compare_studies, detectable_in_question, detectable_overall
from dsqa.stats.comparison import Adjustment

__all__ = ["drift_answer", "drift_between", "drift_overall", "drift_power", "drift_questions"]

_NAMES = {"accuracy": "Accuracy", "score": "Mean score", "instability": "Instability σ̄"}
_MOST = 60


def drift_between(
    page: Page,
    periods: Periods | NotAvailable,
    *,
    margin: float,
    alpha: float,
    adjustment: Adjustment,
) -> Drift | NotAvailable:
    """Return `dsqa.stats.compare_studies` of the two periods, or why there is none."""
    if isinstance(periods, NotAvailable):
        return periods
    return attempt(
        page, compare_studies, periods.old, periods.new, seed=page.seed, margin=margin, alpha=alpha,
        adjustment=adjustment,
    )  # fmt: skip


def drift_answer(page: Page, drift: Drift | NotAvailable, margin: float) -> Markdown | None:
    """Return in sentences whether anything changed."""
    if isinstance(drift, NotAvailable):
        return None
    said = {
        "better": "The later runs are **better**.",
        "worse": "The later runs are **worse**.",
        "other answers": "Accuracy has not been seen to change, but the **answers have**.",
        "no change seen": "**No change was seen**.",
    }[drift.verdict]
    accuracy = drift.overall.iloc[0]
    text = f"{said} Mean accuracy went from {percent(accuracy['old'])} to {percent(accuracy['new'])}"
    if not isnan(accuracy["low"]):
        text += (
            f", a change of {fixed(accuracy['difference'], 3, sign=True)} ({percent(1 - drift.alpha)} interval "
            f"{fixed(accuracy['low'], 3, sign=True)} to {fixed(accuracy['high'], 3, sign=True)})"
        )
    text += (
        f". Permutation tests over all questions: accuracy $p$ {_p(drift.p_accuracy)}, distribution of answers $p$ "
        f"{_p(drift.p_answers)}."
    )
    if accuracy["equivalence"] == "equivalent":
        text += f" Any change of mean accuracy is smaller than {margin:g}."
    elif accuracy["equivalence"] == "undecided":
        text += f" A change of mean accuracy by {margin:g} can be neither shown nor ruled out."
    shown = drift.questions["change"]
    changed = [(name, int((shown == name).sum())) for name in ("better", "worse", "other answers")]
    parts = [f"{n} {name}" for name, n in changed if n]
    compared = int(shown.isin([name for name, _ in changed] + ["no change seen"]).sum())
    seen = f"by themselves changed: {', '.join(parts)}" if parts else "none changed by itself"
    text += f" Of {count(compared, 'question')} compared, {seen} ({escape(drift.adjustment)} at {drift.alpha:g})."
    return Markdown(text)


def drift_overall(page: Page, drift: Drift | NotAvailable) -> Markdown:
    """Return the change of each measure with its interval."""
    if isinstance(drift, NotAvailable):
        return sentence(drift.reason)
    frame = drift.overall.assign(
        name=[_NAMES[measure] for measure in drift.overall["measure"]],
        why=[str(m).removeprefix("not available: ") for m in drift.overall["method"]],
    )
    level = f"{100 * (1 - drift.alpha):g}\u00a0%"
    fields = [
        Field("name", "Measure", "text", width=16),
        Field("old", "Earlier", digits=3, missing_from="why", width=10),
        Field("new", "Later", digits=3, missing_from="why", width=10),
        Field("difference", f"Change, {level} interval", "signed", low="low", high="high", digits=3,
              missing_from="why", width=26),
        Field("why", "Interval", "text", width=34),
    ]  # fmt: skip
    caption = "Later minus earlier, means over questions at equal conditions."
    return data_table(frame, fields, label="tbl-drift-overall", caption=caption, sortable=False)


def drift_questions(page: Page, drift: Drift | NotAvailable) -> Markdown | None:
    """Return question by question what changed, the strongest evidence first."""
    if isinstance(drift, NotAvailable):
        return None
    frame = drift.questions.head(_MOST)
    fields = [
        Field("question_id", "Question", "text", width=18),
        Field("runs_old", "earlier", "count", spanner="Runs", missing="not compared", width=7),
        Field("runs_new", "later", "count", spanner="Runs", missing="not compared", width=7),
        Field("accuracy_old", "earlier", "percent", digits=0, spanner="Right", missing="not compared", width=8),
        Field("accuracy_new", "later", "percent", digits=0, spanner="Right", missing="not compared", width=8),
        Field("difference", "Change", "signed", low="low", high="high", missing="not compared", digits=2, width=22),
        Field("p_accuracy", "accuracy", "p", spanner="$p$", missing="not compared", width=9),
        Field("p_answers", "answers", "p", spanner="$p$", missing="not compared", width=9),
        Field("p_accuracy_adjusted", "accuracy", "p", spanner="$p$, adjusted", missing="not compared", width=9),
        Field("p_answers_adjusted", "answers", "p", spanner="$p$, adjusted", missing="not compared", width=9),
        Field("change", "Verdict", "text", width=14),
    ]
    caption = (
        f"Question by question, the strongest evidence first. Interval: Newcombe's, for this question alone; "
        f"$p$ by {drift.permutations:,} permutations, adjusted over questions ({escape(drift.adjustment)}). *No "
        "change seen* is not proof that there is none."
    )
    rest = len(drift.questions) - len(frame)
    notes = [f"{count(rest, 'question')} more with weaker evidence."] if rest else []
    return data_table(
        frame, fields, label="tbl-drift-questions", caption=caption, notes=notes, classes=("stack",)
    )  # fmt: skip


def drift_power(
    page: Page, periods: Periods | NotAvailable, drift: Drift | NotAvailable, *, shares: Sequence[float], power: float
) -> Markdown | None:
    """Return the smallest change that the comparison would have found, over all questions and in one of them."""
    if isinstance(periods, NotAvailable) or isinstance(drift, NotAvailable):
        return None
    least = attempt(page, detectable_overall, periods.old, periods.new, alpha=drift.alpha, power=power)
    if isinstance(least, NotAvailable):
        text = f"Which change of mean accuracy would have been found cannot be said: {escape(least.reason)}."
    else:
        text = (
            f"A change of mean accuracy by **{least:.3f}** or more on these very questions would have been found "
            f"with probability {percent(power)}; smaller ones would often have been missed."
        )
    compared = drift.questions[drift.questions["runs_old"].notna()]
    n_old, n_new = (max(1, round(float(compared[name].median()))) for name in ("runs_old", "runs_new"))
    alone, holm = drift.alpha, drift.alpha / max(1, len(compared))
    rows = []
    for share in shares:
        row: dict[str, object] = {"share": share}
        for name, alpha in (("alone", alone), ("all", holm)):
            below, above = detectable_in_question(n_old, n_new, share, alpha=alpha, power=power)
            row |= {f"{name}_below": below, f"{name}_above": above}
        rows.append(row)
    none = "no change is large enough"
    fields = [
        Field("share", "Share right, earlier", "percent", digits=0, width=16),
        Field("alone_below", "falls to", "percent", digits=0, spanner="This question alone", missing=none, width=12),
        Field("alone_above", "rises to", "percent", digits=0, spanner="This question alone", missing=none, width=12),
        Field("all_below", "falls to", "percent", digits=0, spanner="Among all questions", missing=none, width=12),
        Field("all_above", "rises to", "percent", digits=0, spanner="Among all questions", missing=none, width=12),
    ]
    caption = (
        f"Shares of right runs that would be told from the earlier one with probability {percent(power)}, in a "
        f"question with {n_old:,} earlier and {n_new:,} later runs, alike in all its cells: at level {alone:g}, and "
        f"at {holm:.2g}, which is what Holm's adjustment over {count(len(compared), 'question')} asks of the first."
    )
    frame = pd.DataFrame(rows).astype("float64")
    return Markdown(
        f"{text}\n\n{data_table(frame, fields, label='tbl-drift-power', caption=caption, sortable=False)}"
    )


def _p(p: float) -> str:
    text = p_text(p)
    return text if text.startswith("<") else f"= {text}"
