"""Whether the design is complete, and if not, which estimators that biases.

A complete design asks every question under every condition, N times, whatever the answers are. Six departures are
looked for in the outcome table:

*unequal N*: cells with other numbers of runs. Off by less than a tenth of the largest N it is said and not held
against any estimator.

*unseen questions*: questions that some conditions saw and others did not.

*asked again by result*: cells with more than the smallest N were chosen by what their first runs gave. Let n₀ be the
smallest N. Of each cell's first n₀ runs (by run number) the SD of the score and the mean score are taken; within
each condition both are ranked, and so is N; the statistic is Σ (rank of the first − its mean)(rank of N − its mean)
over all cells, and its two-sided p value is the share of permutations of N within conditions that give as much or
more (Hájek, Šidák & Sen 1999, Theory of Rank Tests; stratified as in van Elteren 1960). Two tests, Holm-adjusted, at
0.05. Where n₀ is 1 only the score can be tested.

*lost by result*: failed runs, and numbers missing below a cell's highest, taken together. Pearson's χ² of lost
against question within conditions, and of lost against condition, each with its permutation p value (multivariate
hypergeometric); and the rank test above, of the mean score of a cell's other runs against its share of lost runs.
Losses that come in bursts, as an outage gives, reach small p values for the first two by chance; what they bias they
bias all the same.

*stopped by result* and *drift over runs*: whether the order of a cell's runs matters, see `dsqa.stats.run_order`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.adjust import adjust_p
from dsqa.stats.columns import as_floats, require
from dsqa.stats.design_biases import Bias, DesignFault, biases_of
from dsqa.stats.run_order import ORDER_ALPHA, last_runs, trends
from dsqa.stats.strata import homogeneity_test, rank_test
from dsqa.stats.streams import stream

__all__ = ["Completeness", "Finding", "check_design", "design_gaps"]

ALPHA = 0.05
_SLIGHT = 0.1
_LEAST_CELLS = 6
_NAMED = 5
_BLOCK = 2


@dataclass(frozen=True)
class Finding:
    """One departure from a complete design.

    Parameters
    ----------
    fault
        Which; None for one that biases nothing worth saying.
    text
        A sentence, with the evidence.
    p
        Of the test behind it, adjusted; None where it was counted.
    """

    fault: DesignFault | None
    text: str
    p: float | None = None


@dataclass(frozen=True)
class Completeness:
    """What is incomplete about a design, and what that biases.

    Parameters
    ----------
    findings
        The departures; none for a complete design.
    biases
        The families of estimators that they bias.
    """

    findings: tuple[Finding, ...]
    biases: tuple[Bias, ...] = field(default=())

    @property
    def complete(self) -> bool:
        """Whether every question was asked under every condition equally often, with no run lost by result."""
        return not self.findings

    @property
    def text(self) -> str:
        """The findings as a paragraph."""
        return " ".join(finding.text for finding in self.findings) or (
            "Every question was asked under every condition the same number of times."
        )

    @property
    def line(self) -> str:
        """The findings on one line, and how many families of estimators to be careful with."""
        if not self.biases:
            return self.text
        families = list(dict.fromkeys(bias.family for bias in self.biases))
        return f"{self.text} Be careful with: {', '.join(families)}; the report says why and what to use."

    def of(self, *families: str) -> tuple[Bias, ...]:
        """Return the biases of some families."""
        return tuple(bias for bias in self.biases if bias.family in families)


def design_gaps(counts: Sequence[tuple[str, str, int]]) -> list[str]:
    """Say in sentences what is incomplete about runs per (question, condition); empty for a complete design.

    Examples
    --------
    >>> design_gaps([("q1", "a", 10), ("q2", "a", 10)])
    []
    >>> design_gaps([("q1", "a", 10), ("q2", "a", 10), ("q1", "b", 10)])
    ['1 of 2 questions was not asked under every condition: q2.']
    """
    table = pd.DataFrame(counts, columns=["question_id", "condition_id", "n"])
    return [finding.text for finding in (*_unequal(table), *_unseen(table))]


def check_design(outcomes: pd.DataFrame, *, seed: int = 0, sequential: bool = False) -> Completeness:
    """Look for what is incomplete about a design, and for the estimators that it biases.

    Parameters
    ----------
    outcomes
        One row per run: question_id, condition_id, run, status, score.
    seed
        Of the permutations.
    sequential
        The study's own stopping rule decided when a cell had enough runs: that cells differ is then no surprise,
        and is said so.

    Raises
    ------
    StatisticsError
        A column is missing, or there are no runs.

    Examples
    --------
    >>> runs = pd.DataFrame({"question_id": ["a", "a", "b"], "condition_id": "c", "run": [0, 1, 0]})
    >>> check_design(runs.assign(status="answered", score=3.0)).text
    'Cells have 1 to 2 runs: 1 of 2 cells has fewer than 2.'
    """
    require(outcomes, ("question_id", "condition_id", "run", "status", "score"), "outcome table")
    if outcomes.empty:
        raise StatisticsError("no runs: there is no design to look at")
    runs = pd.DataFrame({
        "question_id": outcomes["question_id"].astype(str).to_numpy(),
        "condition_id": outcomes["condition_id"].astype(str).to_numpy(),
        "run": as_floats(outcomes["run"]),
        "lost": outcomes["status"].astype(str).eq("failed").to_numpy(),
        "score": as_floats(outcomes["score"]),
    }).sort_values(["condition_id", "question_id", "run"], kind="stable", ignore_index=True)  # fmt: skip
    cells = runs.groupby(["condition_id", "question_id"], sort=True).agg(
        n=("run", "size"), last=("run", "max"), failed=("lost", "sum")
    )
    cells = cells.reset_index()
    findings = [*_unequal(cells), *_unseen(cells), *_run_blocks(runs)]
    findings += _asked_again(runs, cells, seed, sequential)
    findings += _lost(runs, cells, seed)
    findings += _stopped(outcomes, cells, sequential)
    findings += _drifted(outcomes)
    faults = [finding.fault for finding in findings if finding.fault is not None]
    return Completeness(tuple(findings), biases_of(faults))


def _unequal(cells: pd.DataFrame) -> list[Finding]:
    n = cells["n"].to_numpy()
    low, high = int(n.min()), int(n.max())
    if low == high:
        return []
    usual = int(np.bincount(n).argmax())
    # Of counts that are equally common the larger is what was meant.
    usual = int(max(value for value in np.unique(n) if (n == value).sum() == (n == usual).sum()))
    fewer, more = int((n < usual).sum()), int((n > usual).sum())
    parts = [
        f"{count:,} of {len(n):,} cells {'has' if count == 1 else 'have'} {word} than {usual:,}"
        for count, word in ((fewer, "fewer"), (more, "more"))
        if count
    ]
    text = f"Cells have {low:,} to {high:,} runs: {' and '.join(parts)}."
    if high - low < _SLIGHT * high:
        return [Finding(None, f"{text} That is too little to bias anything.")]
    return [Finding("unequal N", text)]


def _unseen(cells: pd.DataFrame) -> list[Finding]:
    conditions = cells["condition_id"].nunique()
    seen = cells.groupby("question_id", sort=True)["condition_id"].nunique()
    partly = seen[seen < conditions]
    if partly.empty:
        return []
    names = ", ".join(map(str, partly.index[:_NAMED])) + (
        f" and {len(partly) - _NAMED} more" if len(partly) > _NAMED else ""
    )
    verb = "was" if len(partly) == 1 else "were"
    text = f"{len(partly):,} of {len(seen):,} questions {verb} not asked under every condition: {names}."
    return [Finding("unseen questions", text + _question_blocks(cells, conditions))]


def _question_blocks(cells: pd.DataFrame, conditions: int) -> str:
    """Return which questions share the conditions that they were asked under, where these are few blocks."""
    under = [tuple(sorted(map(str, ids))) for _, ids in cells.groupby("question_id", sort=True)["condition_id"]]
    blocks = Counter(ids for ids in under if len(ids) < conditions).most_common()
    if not all(n >= _BLOCK for _, n in blocks) or len(blocks) > _NAMED:
        return ""
    told = [f"{n:,} under {' and '.join(ids[:_NAMED])} only" for ids, n in blocks]
    return f" They lie in {'one block' if len(told) == 1 else f'{len(told)} blocks'}: {'; '.join(told)}."


def _run_blocks(runs: pd.DataFrame) -> list[Finding]:
    """Return which run numbers a whole condition lacks that others have, between its first and last."""
    found = []
    every = np.unique(runs["run"].dropna())
    for condition, own in runs.groupby("condition_id", sort=True):
        have = own["run"].dropna()
        missing = [int(r) for r in every if have.min() < r < have.max() and not (have == r).any()]
        if missing:
            first, last = missing[0], missing[-1]
            span = f"run {first}" if first == last else f"{len(missing):,} of the runs {first} to {last}"
            found.append(
                Finding(None, f"In every cell of {condition} {span} {'is' if first == last else 'are'} missing.")
            )
    return found


def _asked_again(runs: pd.DataFrame, cells: pd.DataFrame, seed: int, sequential: bool) -> list[Finding]:
    first = int(cells["n"].min())
    more = cells["n"].to_numpy() > first
    if not more.any() or len(cells) < _LEAST_CELLS:
        return []
    begun = runs[runs.groupby(["condition_id", "question_id"]).cumcount() < first]
    grouped = begun.groupby(["condition_id", "question_id"], sort=True)["score"]
    mean = grouped.mean().to_numpy()
    spread = grouped.std(ddof=0).to_numpy()
    n = cells["n"].to_numpy(dtype=np.float64)
    strata = cells["condition_id"].to_numpy()
    what = (
        {"the mean score of": mean}
        if first == 1
        else {"the spread of the scores in": spread, "the mean score of": mean}
    )
    # Cells without a ground truth have no score, and say nothing here.
    known = np.isfinite(mean)
    if known.sum() < _LEAST_CELLS:
        return []
    tested = {
        name: rank_test(values[known], n[known], strata[known], stream(seed, "design", name))
        for name, values in what.items()
    }
    found = dict(zip(tested, adjust_p([p for _, p in tested.values()]), strict=True))
    by_result = {name: p for name, p in found.items() if p < ALPHA}
    runs_word = "first run" if first == 1 else f"first {first:,} runs"
    if not by_result:
        return []
    sentences = []
    for name, p in by_result.items():
        direction = "larger" if tested[name][0] > 0 else "smaller"
        sentences.append(
            f"{name} a cell's {runs_word} goes with how often it was asked ({direction}, more often; p {_p(p)})"
        )
    varied = spread > 0
    exact = first > 1 and bool(more.any() and (~more).any() and (varied == more).all())
    evidence = " and ".join(sentences)
    text = f"Some cells were asked again because of what they gave: {evidence}."
    if first > 1:
        text += (
            f" Of the {int(more.sum()):,} cells asked again {int((varied & more).sum()):,} had varied by then, of "
            f"the {int((~more).sum()):,} others {int((varied & ~more).sum()):,}"
            + (": exactly the changing ones were asked again." if exact else ".")
        )
    if sequential:
        text += " That is the study's own stopping rule, which the intervals of cells allow for, and averages do not."
    return [Finding("asked again by result", text, min(by_result.values()))]


def _lost(runs: pd.DataFrame, cells: pd.DataFrame, seed: int) -> list[Finding]:
    gaps = cells["last"].to_numpy() + 1 - cells["n"].to_numpy()
    # Numbers that start above 0 or leap, in every cell alike, are a way of counting and no loss.
    gaps = np.where(np.ptp(gaps) == 0, 0, gaps).astype(np.int64)
    failed = cells["failed"].to_numpy(dtype=np.int64)
    lost, asked = gaps + failed, cells["n"].to_numpy(dtype=np.int64) + gaps
    if not lost.any() or len(cells) < 2:
        return []
    strata = cells["condition_id"].to_numpy()
    rng = stream(seed, "design", "lost")
    p = {"questions": homogeneity_test(lost, asked, strata, rng)}
    _, codes = np.unique(strata, return_inverse=True)
    if codes.max() > 0:
        gone, all_of = (np.bincount(codes, weights).astype(np.int64) for weights in (lost, asked))
        p["conditions"] = homogeneity_test(gone, all_of, np.zeros(len(gone)), rng)
    came = runs[~runs["lost"]].groupby(["condition_id", "question_id"])["score"].mean()
    mean = came.reindex(pd.MultiIndex.from_frame(cells[["condition_id", "question_id"]])).to_numpy()
    known = np.isfinite(mean)
    if known.sum() >= _LEAST_CELLS:
        p["score"] = rank_test(mean[known], (lost / asked)[known], strata[known], rng)[1]
    adjusted = {name: value for name, value in zip(p, adjust_p(list(p.values())), strict=True) if value < ALPHA}
    if not adjusted:
        return []
    words = {
        "questions": "they are spread unevenly over questions",
        "conditions": "they are spread unevenly over conditions",
        "score": "cells that lost more differ in the score of their other runs",
    }
    evidence = " and ".join(f"{words[name]} (p {_p(value)})" for name, value in adjusted.items())
    kinds = [f"{failed.sum():,} failed" if failed.any() else "", f"{gaps.sum():,} not there" if gaps.any() else ""]
    text = (
        f"Runs were not lost at random: of {asked.sum():,} runs {' and '.join(filter(None, kinds))}, and {evidence}."
    )
    return [Finding("lost by result", text, min(adjusted.values()))]


def _stopped(outcomes: pd.DataFrame, cells: pd.DataFrame, sequential: bool) -> list[Finding]:
    told = [row for row in last_runs(outcomes) if row.p < ORDER_ALPHA]
    if not told:
        return []
    articles = {"text": "a text", "answer": "an answer"}
    evidence = " and ".join(
        f"of {row.cells:,} cells that can tell, {row.new:,} end with {articles[row.what]} that no other of their "
        f"runs has, where {row.expected:.0f} would by chance (p {_p(row.p)})"
        for row in told
    )
    new = told[0].new > told[0].expected
    text = f"The last run of a cell is not like the others: {evidence}. "
    text += (
        "So cells were asked until something new came" if new else "So cells were asked until something came again"
    )
    if cells["n"].nunique() == 1:
        text += ", or what was asked changed before the last run: all cells have equally many"
    text += "."
    if sequential:
        text += " The study stops by itself: the intervals of cells allow for that, and averages do not."
    return [Finding("stopped by result", text, min(row.p for row in told))]


def _drifted(outcomes: pd.DataFrame) -> list[Finding]:
    told = [row for row in trends(outcomes) if row.p < ORDER_ALPHA]
    if not told:
        return []
    words = {"score": "the score", "words": "the number of words"}
    evidence = " and ".join(
        f"{words[row.what]} {'rises' if row.slope > 0 else 'falls'} by {abs(row.slope):.2g} a run over "
        f"{row.cells:,} cells (p {_p(row.p)})"
        for row in told
    )
    text = f"Runs drift from the first of a cell to the last: {evidence}. The page on drift says more."
    return [Finding("drift over runs", text, min(row.p for row in told))]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
