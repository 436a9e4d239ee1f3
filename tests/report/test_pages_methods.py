"""The pages instability, accuracy, verbosity and correlation, on one study whose numbers are worked out by hand.

Four questions at two temperatures, four runs each (score = CR + RA + CE/2):

    q01  always right              3, 3, 3, 3          σ̄ = 0
    q02  always wrong              1.5 four times      σ̄ = 0
    q03  half right                3, 3, 1.5, 1.5      σ̄ = 0.75/1.5 = 0.5; at 0.2 the last run failed:
                                   3, 3, 1.5, 0        SD = √(6.1875/4) = 1.2437, σ̄ = 0.829
    q04  one of four right         3, 1.5, 1.5, 1.5    σ̄ = √(3/16) = 0.433
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats as scipy_stats

from dsqa import report, stats
from dsqa.report import Page, open_page
from dsqa.study import StudyFolder
from tests.report.inprocess import run_notebook
from tests.report.study import make_study

RIGHT = {"q01": [1, 1, 1, 1], "q02": [0, 0, 0, 0], "q03": [1, 1, 0, 0], "q04": [1, 0, 0, 0]}


def _by_hand(outcomes: pd.DataFrame) -> pd.DataFrame:
    table = outcomes.copy()
    right = [RIGHT[q][run] for q, run in zip(table["question_id"], table["run"], strict=True)]
    rng = np.random.default_rng(5)
    words = rng.integers(20, 90, len(table))
    tokens = np.round(1.3 * words * rng.lognormal(0, 0.1, len(table)) + 3)
    values = {
        "status": "answered",
        "completion": 1,
        "accuracy": right,
        "executability": [1 + r for r in right],
        "answer_key": [f"x={r}" for r in right],
        "text_hash": [f"t{run}" for run in table["run"]],
        "result_key": [f"r{r}" for r in right],
        "words_out": words,
        "tokens_out": tokens,
        "word_ratio": 120 / words,
        "token_ratio": 180 / tokens,
        "jaccard_mean": rng.uniform(0.3, 0.9, len(table)),
        "seconds": rng.gamma(4, 0.5, len(table)),
    }
    for name, value in values.items():
        table[name] = pd.array(np.broadcast_to(np.asarray(value), len(table)).tolist(), dtype=outcomes[name].dtype)
    lost = (table["question_id"] == "q03") & (table["temperature"] == 0.2) & (table["run"] == 3)
    table.loc[lost, "status"] = "failed"
    table.loc[lost, ["completion", "accuracy", "executability"]] = 0
    table.loc[
        lost, ["answer_key", "text_hash", "result_key", "words_out", "word_ratio", "tokens_out", "token_ratio"]
    ] = pd.NA
    table.loc[lost, ["jaccard_mean", "seconds"]] = pd.NA
    table["score"] = (table["completion"] + table["accuracy"] + table["executability"] / 2).astype("Float64")
    return table


def _edited(folder: StudyFolder, change: Callable[[pd.DataFrame], pd.DataFrame]) -> StudyFolder:
    outcomes = pd.read_parquet(folder.outcomes_path)
    change(outcomes).astype(outcomes.dtypes.to_dict()).to_parquet(folder.outcomes_path)
    return folder


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> StudyFolder:
    return _edited(make_study(tmp_path_factory.mktemp("worked") / "s", questions=4, runs=4), _by_hand)


@pytest.fixture(scope="module")
def outcomes(worked: StudyFolder) -> pd.DataFrame:
    return pd.read_parquet(worked.outcomes_path)


def test_instability_page_shows_the_numbers_worked_by_hand(worked: StudyFolder, tmp_path: Path) -> None:
    shown = run_notebook("instability", worked.root, tmp_path, groups=[["condition_id"]], resamples=199)
    # Mean over questions: (0 + 0 + (0.829 + 0.5)/2 + 0.433)/4.
    assert "Its mean over questions is **0.274**" in shown
    # q03 twice and q04 twice.
    assert "**4 of 8 cells are at or above 0.3**" in shown
    assert "The largest is 0.829 (q03 under" in shown
    assert "1 run of 32 failed, in 1 cell" in shown
    # At T = 0.2: Σ Cov(part, S) = 1.875 (CR), 3.375 (RA), 2.625 (CE/2) of 7.875.
    shares = [line for line in shown.splitlines() if (line.startswith("| T") and "CR" in line) or "RA |" in line]
    assert "| 24\u00a0% " in shares[0]
    assert "| 43\u00a0% " in shares[1]
    # Without the failed run q03 at 0.2 has 3, 3, 1.5: σ̄ = 0.471, so (0 + 0 + 0.4857 + 0.433)/4.
    assert _row(shown, "without failed")[-1] == "0.230"
    assert _row(shown, "0.50")[1] == "2"


def test_accuracy_page_shows_the_numbers_worked_by_hand(worked: StudyFolder, tmp_path: Path) -> None:
    shown = run_notebook(
        "accuracy", worked.root, tmp_path, groups=[["condition_id"]], ks=[1, 2, 5], curves_by=[], resamples=199
    )
    # (1 + 0 + 1/2 + 1/4)/4; 14 of 32 runs.
    assert "14 of 32 runs are right. The mean over 4 questions is **0.438**" in shown
    # pass@2: 1, 0, 1 − C(2,2)/C(4,2) = 5/6, 1 − C(3,2)/C(4,2) = 1/2; pass^2: 1, 0, 1/6, 0.
    assert _row(shown, "2")[1].startswith("0.58 ")
    assert _row(shown, "2")[4].startswith("0.29 ")
    # maj@2 with ties by a coin: 1, 0, at 1.0 ½; at 0.2 the silent failed run leaves P = 1/6 + 2/6·½ + 2/6 = 2/3; ¼.
    assert _row(shown, "2")[2].startswith(f"{(1 + (2 / 3 + 0.5) / 2 + 0.25) / 4:.2f} ")
    assert _row(shown, "5")[1].startswith("–")
    # Given a reply: q03 has 2/3 at 0.2.
    assert _row(shown, "without failed")[-1] == f"{(1 + (2 / 3 + 1 / 2) / 2 + 1 / 4) / 4:.3f}"
    assert _row(shown, "Right in up to half of the runs")[1:] == ["0", "4"]
    assert "The runs were read by one reader" in shown


def test_verbosity_page_agrees_with_statsmodels(worked: StudyFolder, outcomes: pd.DataFrame, tmp_path: Path) -> None:
    shown = run_notebook("verbosity", worked.root, tmp_path, groups=[["condition_id"]], resamples=199)
    data = outcomes.dropna(subset=["word_ratio"]).astype({"word_ratio": float, "token_ratio": float})
    want = smf.ols("np.log(token_ratio) ~ np.log(word_ratio)", data).fit()
    assert f"to the power **{want.params.iloc[1]:.3f}**" in shown
    hc3 = want.get_robustcov_results("HC3")
    low, high = hc3.conf_int()[1]
    assert f"\\[{low:.3f},\u00a0{high:.3f}\\]" in _row(shown, "OLS", "independent runs \\(HC3\\)")[4]
    assert f"R²: {want.rsquared:.4f}" in shown
    beyond = float(np.mean(np.abs(want.resid) > 2 * np.sqrt(want.scale)))
    assert _row(shown, "Residuals beyond ±2 SD, log–log")[1:] == [f"{100 * beyond:.1f} %", "4.5 %"]
    spearman = scipy_stats.spearmanr(data["word_ratio"], data["token_ratio"]).statistic
    row = _row(shown, "Spearman correlation of the ratios")
    assert row[1].startswith(f"{spearman:.3f} ")
    assert row[2] == "0.953"
    assert "of **other models**" in shown
    assert "31 of 32 runs have both ratios" in shown
    assert "1 failed" in shown


@pytest.mark.parametrize("kind", ["spearman", "kendall", "pearson"])
def test_correlations_over_runs_between_and_within_cells(outcomes: pd.DataFrame, kind: str) -> None:
    pair = ["words_out", "seconds"]
    got = stats.correlation_levels(outcomes, pair, kind=kind, seed=1, resamples=199).set_index("over")["r"]
    data = outcomes.dropna(subset=pair).astype(dict.fromkeys(pair, float))
    cell = data.groupby(["question_id", "condition_id"])[pair]
    of = {"spearman": scipy_stats.spearmanr, "kendall": scipy_stats.kendalltau, "pearson": scipy_stats.pearsonr}[kind]
    levels = {
        "all runs": data[pair],
        "between cells": cell.mean(),
        "within cells": data[pair] - cell.transform("mean"),
    }
    for over, table in levels.items():
        assert got[over] == pytest.approx(float(of(table[pair[0]], table[pair[1]]).statistic), abs=1e-12)


def test_levels_of_pearson_make_up_the_whole(outcomes: pd.DataFrame) -> None:
    pair = ["words_out", "seconds"]
    balanced = outcomes[outcomes["question_id"] != "q03"]
    r = stats.correlation_levels(balanced, pair, kind="pearson", seed=1, resamples=199).set_index("over")["r"]
    eta = np.sqrt(stats.level_tables(balanced, pair)[1])
    whole = eta.prod() * r["between cells"] + np.sqrt(1 - eta**2).prod() * r["within cells"]
    assert r["all runs"] == pytest.approx(whole, abs=1e-12)


def test_correlation_page(worked: StudyFolder, outcomes: pd.DataFrame, tmp_path: Path) -> None:
    shown = run_notebook(
        "correlation", worked.root, tmp_path, kind="kendall", metrics=["words_out", "seconds", "score"], resamples=199
    )
    data = outcomes.dropna(subset=["words_out"]).astype({"words_out": float, "seconds": float})
    tau = scipy_stats.kendalltau(data["words_out"], data["seconds"]).statistic
    assert _row(shown, "words out, seconds")[1].startswith(f"{tau:+.2f}".replace("-", "−"))
    assert "Kendall correlations over 31 runs, between 8 cells and within them" in shown
    # Repeated measures: 31 runs − 8 cells − 1.
    assert "22 degrees of freedom" in shown
    assert "**Correlation of the metrics.** Kendall" in shown


def _row(shown: str, *starts: str) -> list[str]:
    """Return the first table row whose first cells are these."""
    for line in shown.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if tuple(cells[: len(starts)]) == starts and len(cells) > len(starts):
            return cells
    raise AssertionError(f"no row {starts}")


def _no_truth(outcomes: pd.DataFrame) -> pd.DataFrame:
    return outcomes.assign(accuracy=pd.NA, score=pd.NA)


def _all_failed(outcomes: pd.DataFrame) -> pd.DataFrame:
    none = dict.fromkeys(("answer_key", "words_out", "tokens_out", "word_ratio", "token_ratio"), pd.NA)
    return outcomes.assign(status="failed", completion=0, accuracy=0, executability=0, score=0.0, **none)


def _all_equal(outcomes: pd.DataFrame) -> pd.DataFrame:
    alike = {"status": "answered", "completion": 1, "accuracy": 1, "executability": 2, "score": 3.0}
    return outcomes.assign(**alike, word_ratio=2.0, token_ratio=2.5, words_out=60, tokens_out=72)


def _unbalanced(outcomes: pd.DataFrame) -> pd.DataFrame:
    return outcomes.drop(outcomes.index[[0, 1, 2, 9]])


EDGES: dict[str, tuple[dict[str, object], Callable[[pd.DataFrame], pd.DataFrame] | None, tuple[str, ...]]] = {
    "one question": ({"questions": 1, "runs": 4}, None, ("not available\\: one question", "At least two questions")),
    "one run": (
        {"questions": 3, "runs": 1},
        None,
        ("one run says nothing about instability", "it takes two marked runs"),
    ),
    "all equal": (
        {"questions": 3, "runs": 3},
        _all_equal,
        ("there is no variance to share out", "A predictor does not vary"),
    ),
    "no truths": ({"questions": 3, "runs": 3}, _no_truth, ("a score needs a ground truth", "can be right or wrong")),
    "all failed": ({"questions": 2, "runs": 3}, _all_failed, ("No run got a reply",)),
    "one condition, unbalanced": (
        {"questions": 4, "runs": 4, "temperatures": (0.2,)},
        _unbalanced,
        ("× 1 condition", "**unbalanced**: 1 to 4 runs per cell"),
    ),
}


@pytest.fixture(scope="module", params=EDGES)
def edge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Page, tuple[str, ...]]:
    made, change, says = EDGES[request.param]
    folder = make_study(tmp_path_factory.mktemp("edge") / "s", **made)
    return open_page((_edited(folder, change) if change else folder).root, resamples=199), says


def test_every_page_function_ends_well(edge: tuple[Page, tuple[str, ...]]) -> None:
    page, says = edge
    shown = "\n".join(str(part) for part in _all_parts(page) if part is not None)
    for sentence in says:
        assert sentence in shown
    # Neither what is not a number nor the words of a library reach the reader.
    assert not re.search(r"\bnan\b|zero-size|Traceback|[A-Z]\w+Error\b", shown)


def _all_parts(page: Page) -> list[object]:
    """What the four notebooks show, without figures."""
    seed, few = page.seed, 199
    cells = report.instability_at(page, level=0.9, method="percentile")
    layers = report.attempt(
        page,
        stats.stability_layers,
        page.outcomes,
        seed=seed,
        resamples=few,
        layers=stats.LAYERS | {"score": "score"},
    )
    means = (
        layers
        if isinstance(layers, report.NotAvailable)
        else stats.summarise_stability(layers, seed=seed, resamples=few)
    )
    several = "condition_id" if len(page.conditions) > 1 else None
    parts: list[object] = [
        report.instability_lead(page, cells, level=0.9, resamples=few),
        report.instability_balance(page),
        report.instability_cells(page, cells, rows=3, level=0.9),
        report.instability_groups(
            page, report.attempt(page, stats.summarise_groups, cells, ["level"], seed=seed, resamples=few)
        ),
        report.instability_parts(
            page, report.attempt(page, stats.score_parts, page.outcomes, seed=seed, resamples=few)
        ),
        report.instability_layers(page, layers, means),
        report.instability_components(
            page, report.attempt(page, stats.component_intervals, page.outcomes, model=several)
        ),
        report.instability_thresholds(page, cells, [0.2]),
        report.left_out(page, "instability", label="tbl-a"),
        report.accuracy_lead(page, method="jeffreys", level=0.9, resamples=few),
        report.accuracy_cells(page, report.accuracy_at(page, level=0.9, method="jeffreys"), level=0.9),
        report.accuracy_means(
            page, report.attempt(page, stats.accuracy_groups, page.outcomes, ["level"], seed=seed, resamples=few)
        ),
        report.accuracy_stability(page, page.cells),
        report.left_out(page, "accuracy", label="tbl-b"),
        report.readers_table(page, level=0.9, resamples=few),
        report.accuracy_conventions(page),
    ]
    curves = report.attempt(page, stats.cell_curves, page.outcomes, [1, 3])
    curve = curves if isinstance(curves, report.NotAvailable) else stats.curve_means(curves, seed=seed, resamples=few)
    marked = page.outcomes.dropna(subset=["accuracy"])
    fit = report.attempt(page, stats.gee, report.accuracy_formula_by_question(page), marked)
    parts += [
        report.accuracy_curves(page, curve, threshold=0.75),
        report.regression_summary(page, fit, label="tbl-c", odds_ratios=True),
    ]
    runs, alike = report.verbosity_rows(page), report.cluster_of(page, "question_id")
    formula = "np.log(token_ratio) ~ np.log(word_ratio)"
    log, raw = (
        report.attempt(page, stats.fit_line, text, runs, cluster=alike)
        for text in (formula, "token_ratio ~ word_ratio")
    )
    checks = report.attempt(page, stats.check_line, formula, runs, cluster=alike or "cell", seed=seed, resamples=few)
    both = ["word_ratio", "token_ratio"]
    ratios = report.attempt(
        page, stats.correlation_table, page.outcomes, both, kinds=["pearson", "spearman"], seed=seed, resamples=few
    )
    names = report.correlation_metrics(page)
    levels = report.attempt(page, stats.correlation_levels, page.outcomes, names, seed=seed, resamples=few)
    repeated = report.attempt(
        page,
        stats.correlation_table,
        runs.join(page.outcomes[["score"]]),
        [*both, "score"],
        kinds=["repeated"],
        cluster="cell",
        seed=seed,
        resamples=few,
    )
    return [
        *parts,
        report.verbosity_lead(page, log),
        report.verbosity_runs(page, runs),
        report.regression_summary(page, log, label="tbl-d"),
        report.verbosity_slopes(page, runs, cluster=alike, resamples=few),
        report.verbosity_levels(
            page, log, report.attempt(page, stats.within_between, formula, runs, cluster=alike or "cell")
        ),
        report.verbosity_checks(page, log, checks),
        report.verbosity_by(page, runs, ["level"], cluster=alike),
        report.verbosity_paper(page, ratios, log, raw),
        report.correlation_used(page),
        report.correlation_lead(page, levels),
        report.correlation_pairs(page, levels),
        report.correlation_repeated(page, repeated),
    ]
