"""The rows of the comparison table: per model, per pair, and for all models at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd

from dsqa.errors import StatisticsError
from dsqa.stats.bootstrap import BootstrapMethod, bootstrap_intervals
from dsqa.stats.comparison.best import probability_best
from dsqa.stats.comparison.effects import Effect, cohens_h, hedges_g, odds_ratio, rank_biserial, risk_difference
from dsqa.stats.comparison.equivalence import equivalence_test, smallest_detectable
from dsqa.stats.comparison.friedman import friedman_pairs, friedman_test
from dsqa.stats.comparison.layout import Paired, labels_of, pairs
from dsqa.stats.comparison.mcnemar import PairKind, mcnemar_test
from dsqa.stats.comparison.paired import paired_interval, sign_flip_test, signed_rank_test
from dsqa.stats.dispersion import SCORE_BOUNDS
from dsqa.stats.interval import FloatArray, Interval, level_text, share_text
from dsqa.stats.missing import missing_case_bounds
from dsqa.stats.over_questions import question_intervals

__all__ = ["Row", "Settings", "for_all", "per_model", "per_pair"]

Row = dict[str, Any]

_PAIR_NOTES: dict[PairKind, str] = {
    "majority": "majority answers; generalises to other questions",
    "first run": "one run each; generalises to other questions",
    "runs": "these very questions only; which runs are paired is arbitrary",
}


@dataclass(frozen=True)
class Settings:
    """What `compare_models` was asked for."""

    seed: int
    level: float
    power: float
    margin: float
    method: BootstrapMethod | None
    resamples: int

    @property
    def alpha(self) -> float:
        """One minus the level."""
        return 1 - self.level


def per_model(outcomes: pd.DataFrame, paired: Paired, settings: Settings) -> list[Row]:
    """Return each model's mean, its bounds for lost runs, and its probability of being best."""
    samples = [np.round(column, 12) for column in paired.values.T]
    if settings.method is None:
        bounds = SCORE_BOUNDS if paired.measure == "score" else (0.0, 1.0)
        intervals = question_intervals(samples, level=settings.level, bounds=bounds)
    else:
        intervals = bootstrap_intervals(
            samples, seed=settings.seed, method=settings.method, level=settings.level, resamples=settings.resamples
        )
    count = len(paired.values)
    rows = []
    for label, column, interval in zip(paired.labels, paired.values.T, intervals, strict=True):
        row = {"quantity": "mean", "first": label, "questions": count, "estimate": column.mean()}
        rows.append(row | _ends(interval))
    if "status" in outcomes.columns:
        own = outcomes.assign(**{paired.by: labels_of(outcomes[paired.by])})
        own = own[labels_of(own["question_id"]).isin(paired.questions)]
        cases = missing_case_bounds(own, by=[paired.by], measures=[paired.measure], within=paired.within)
        for bound in cases.itertuples():
            row = {"quantity": "mean, whatever failed runs would have been", "first": getattr(bound, paired.by)}
            row |= {"estimate": bound.value, "low": bound.lowest, "high": bound.highest, "questions": count}
            note = f"{bound.n_failed} of {bound.runs} runs were lost to the infrastructure"
            rows.append(row | {"method": "worst and best case, no interval", "note": note})
    what = "probability of being best"
    try:
        table = probability_best(paired, seed=settings.seed, level=settings.level, resamples=settings.resamples)
        for best in table.itertuples():
            row = {"quantity": what, "first": best.label, "questions": count, "estimate": best.probability_best}
            how = f"bootstrap over questions and runs, {settings.resamples:,} resamples"
            rows.append(row | {"method": how})
            rank = {"quantity": "rank", "first": best.label, "questions": count, "estimate": best.expected_rank}
            rows.append(rank | {"low": best.rank_low, "high": best.rank_high, "method": how, "note": "1 is best"})
    except StatisticsError as reason:
        rows.append({"quantity": what, "method": "not available", "note": reason.message, "questions": count})
    return rows


def per_pair(
    outcomes: pd.DataFrame, paired: Paired, first: str, second: str, settings: Settings
) -> tuple[list[Row], list[Row]]:
    """Return a pair's rows: plain ones, and those whose p is to be adjusted over the pairs."""
    x, y = paired.values[:, paired.position(first)], paired.values[:, paired.position(second)]
    d, level = x - y, settings.level
    pair: Row = {"first": first, "second": second, "questions": len(d)}
    tests = len(list(pairs(paired.labels)))
    common: dict[str, Any] = {"seed": settings.seed, "level": level, "resamples": settings.resamples}
    interval = paired_interval(paired, first, second, method=settings.method, **common)
    test = sign_flip_test(d, seed=settings.seed)
    difference = pair | {"quantity": "difference", "estimate": d.mean(), "p": test.p} | _ends(interval)
    difference["method"] = f"{interval.method}; {test.method}"
    these = paired_interval(paired, first, second, resample="runs", **common)
    plain = [
        pair | {"quantity": "difference, these questions", "estimate": d.mean()} | _ends(these),
        _tried("Hedges' g, d_av", pair, lambda: _effect(hedges_g(x, y, level=level))),
        _tried("Hedges' g, d_z", pair, lambda: _effect(hedges_g(x, y, scale="difference", level=level))),
        _tried("equivalence", pair, lambda: _equivalence(d, settings)),
        _tried("smallest detectable difference", pair, lambda: _detectable(d, settings, tests)),
    ]
    adjusted = [difference, _tried("signed ranks", pair, lambda: _ranked(x, y, settings))]
    if paired.measure == "accuracy":
        plain += [
            _tried("risk difference", pair, lambda: _effect(risk_difference(x, y, level=level))),
            _tried("odds ratio", pair, lambda: _effect(odds_ratio(x, y, level=level))),
            _tried("Cohen's h", pair, lambda: _effect(cohens_h(x, y, level=level))),
        ]
        adjusted += [_mcnemar(outcomes, paired, first, second, kind, level) for kind in get_args(PairKind)]
    return plain, adjusted


def for_all(paired: Paired) -> tuple[list[Row], list[Row]]:
    """Return Friedman's test, and the pairs' rank differences, whose p are to be adjusted."""
    overall = _tried("Friedman", {"questions": len(paired.values)}, lambda: _friedman(paired))
    return [overall], _by_rank(paired)


def _ends(interval: Interval) -> Row:
    return {"low": interval.low, "high": interval.high, "method": interval.method, "note": interval.note or None}


def _tried(quantity: str, row: Row, find: Callable[[], Row]) -> Row:
    """Return a row; where the data do not allow for the quantity, one that says why."""
    try:
        return row | {"quantity": quantity} | find()
    except StatisticsError as reason:
        return row | {"quantity": quantity, "method": "not available", "note": reason.message}


def _ranked(x: FloatArray, y: FloatArray, settings: Settings) -> Row:
    test = signed_rank_test(x - y)
    effect = rank_biserial(x, y, seed=settings.seed, level=settings.level, resamples=settings.resamples)
    return _effect(effect) | {"p": test.p, "method": f"Wilcoxon, {test.method}; {effect.interval.method}"}


def _effect(effect: Effect) -> Row:
    return {"estimate": effect.value} | _ends(effect.interval)


def _equivalence(d: FloatArray, settings: Settings) -> Row:
    test = equivalence_test(d, settings.margin, alpha=settings.alpha)
    note = f"{test.verdict} within ±{settings.margin:g}"
    return {"estimate": d.mean(), "p": test.p, "note": note} | {
        "low": test.interval.low,
        "high": test.interval.high,
        "method": f"two one-sided t tests, {level_text(test.interval.level)} interval",
    }


def _detectable(d: FloatArray, settings: Settings, tests: int) -> Row:
    value = smallest_detectable(d, alpha=settings.alpha / tests, power=settings.power)
    split = f", {tests} pairs" if tests > 1 else ""
    return {
        "estimate": value,
        "method": f"paired t test, power {share_text(settings.power, 0)}, level {settings.alpha:.2g}{split}",
    }


def _mcnemar(outcomes: pd.DataFrame, paired: Paired, first: str, second: str, kind: PairKind, level: float) -> Row:
    def find() -> Row:
        test = mcnemar_test(outcomes, first, second, by=paired.by, within=paired.within, pairs=kind, level=level)
        note = f"{test.first_only} to {test.second_only} of {test.n} pairs; exact p {test.exact_p:.3g}"
        note += f"; {_PAIR_NOTES[kind]}"
        if kind != "runs" and test.n > len(paired.values):
            note += f"; several pairs per question ({' and '.join(paired.within)}), so p is too small"
        return {
            "estimate": test.odds_ratio,
            "low": test.interval.low,
            "high": test.interval.high,
            "p": test.mid_p,
            "questions": test.n,
            "method": "McNemar, mid-p; odds ratio of the pairs that disagree",
            "note": note,
        }

    return _tried(f"McNemar, {kind}", {"first": first, "second": second}, find)


def _friedman(paired: Paired) -> Row:
    test = friedman_test(paired.values)
    note = f"chi-squared {test.chi2:.4g} on {test.df} (p {test.p:.3g}), F {test.f:.4g} on {test.f_df}; Kendall's W"
    return {"estimate": test.kendall_w, "p": test.f_p, "method": "Friedman, F by Iman and Davenport", "note": note}


def _by_rank(paired: Paired) -> list[Row]:
    what, count = "rank difference", len(paired.values)
    try:
        found = friedman_pairs(paired.values, paired.labels)
    except StatisticsError as reason:
        return [
            {"quantity": what, "first": first, "second": second, "method": "not available", "note": reason.message}
            for first, second in pairs(paired.labels)
        ]
    return [
        {"quantity": what, "first": row.first, "second": row.second, "estimate": row.rank_difference, "p": row.p,
         "questions": count, "method": "Conover after Friedman, ranks within questions"}
        for row in found.itertuples()
    ]  # fmt: skip
