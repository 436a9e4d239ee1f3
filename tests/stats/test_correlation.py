from __future__ import annotations

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from dsqa.errors import StatisticsError
from dsqa.stats import correlation_matrix, correlation_table
from tests.support.synthetic import synthetic_outcomes

from .data import few, reference, study


@pytest.fixture(scope="module")
def ratios():
    table = study()[lambda t: t["words_out"] > 0]
    return table.assign(wr=table["words_in"] / table["words_out"], tr=table["tokens_in"] / table["tokens_out"])


@pytest.mark.parametrize("key", ["g_spearman_all_rows", "g_spearman_rows_with_output"])
def test_spearman_matrix_agrees_with_r(ratios, key):
    want = reference()[key]
    table = study() if key.endswith("all_rows") else ratios
    got = correlation_matrix(table, want["names"])
    assert got.to_numpy() == pytest.approx(np.array(want["matrix"], dtype=float), rel=1e-8, abs=1e-12)


def test_pearson_and_its_interval_agree_with_r(ratios):
    want = reference()["c_correlation"]
    row = correlation_table(ratios, ["wr", "tr"], kinds=["pearson"], seed=1, resamples=0).iloc[0]
    assert row["r"] == pytest.approx(want["pearson_raw"], rel=1e-8)
    assert (row["fisher_low"], row["fisher_high"]) == pytest.approx(want["pearson_raw_ci95"], rel=1e-8)


def test_partial_agrees_with_pingouin(ratios):
    names = ["score", "words_out", "runtime_s", "words_in"]
    assert correlation_matrix(ratios, names, kind="partial").to_numpy() == pytest.approx(
        ratios[names].pcorr().to_numpy(), rel=1e-8
    )
    row = correlation_table(ratios, names, kinds=["partial"], seed=1, resamples=0).iloc[0]
    want = pingouin.partial_corr(ratios, x="score", y="words_out", covar=["runtime_s", "words_in"])
    z, error = np.arctanh(float(want["r"].iloc[0])), 1 / np.sqrt(len(ratios) - 2 - 3)
    assert row["r"] == pytest.approx(np.tanh(z), rel=1e-8)
    assert row["fisher_high"] == pytest.approx(np.tanh(z + 1.959963984540054 * error), rel=1e-8)


def test_repeated_measures_agree_with_pingouin(ratios):
    table = ratios[ratios["run"] <= 5]
    row = correlation_table(table, ["wr", "score"], kinds=["repeated"], seed=1, resamples=0).iloc[0]
    want = pingouin.rm_corr(table, x="wr", y="score", subject="question_id")
    assert row["r"] == pytest.approx(float(want["r"].iloc[0]), rel=1e-8)
    ends = np.tanh(
        np.arctanh(row["r"]) + np.array([-1, 1]) * 1.959963984540054 / np.sqrt(int(want["dof"].iloc[0]) - 1)
    )
    assert (row["fisher_low"], row["fisher_high"]) == pytest.approx(tuple(ends), rel=1e-8)


def test_within_and_between_questions_can_disagree():
    q = np.repeat(np.arange(10), 20)
    noise = np.random.default_rng(1).normal(size=(2, 200))
    x = q + noise[0]
    table = pd.DataFrame({"question_id": q, "x": x, "y": -3 * q + noise[0] + 0.3 * noise[1]})
    r = {kind: correlation_matrix(table, ["x", "y"], kind=kind).iloc[0, 1] for kind in ("pearson", "repeated")}
    assert r["pearson"] < -0.8
    assert r["repeated"] > 0.9


def test_the_interval_leaves_out_each_question_in_turn():
    """Against the same statistic on tables without a question each, put on Fisher's z by hand."""
    rng = np.random.default_rng(2)
    q = np.repeat(np.arange(6), 5)
    table = pd.DataFrame({"question_id": q, "a": rng.integers(0, 4, 30), "b": rng.integers(0, 4, 30) + q})
    kinds = ["pearson", "spearman", "kendall", "repeated"]
    for row in correlation_table(table, ["a", "b"], kinds=kinds).itertuples():
        without = [
            correlation_matrix(table[table["question_id"] != k], ["a", "b"], kind=row.kind).iloc[0, 1]
            for k in range(6)
        ]
        error = np.sqrt(5 / 6 * np.sum((np.arctanh(without) - np.mean(np.arctanh(without))) ** 2))
        half = scipy_stats.t.ppf(0.975, 5) * error
        assert row.low == pytest.approx(np.tanh(np.arctanh(row.r) - half), rel=1e-9)
        assert row.high == pytest.approx(np.tanh(np.arctanh(row.r) + half), rel=1e-9)
        assert row.p_cluster == pytest.approx(2 * scipy_stats.t.sf(abs(np.arctanh(row.r)) / error, 5), rel=1e-9)


def test_kendall_is_scipys_tau_b_with_ties():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"question_id": rng.integers(0, 5, 80), "a": rng.integers(0, 4, 80)})
    table["b"] = table["a"] + rng.integers(0, 5, 80)
    want = scipy_stats.kendalltau(table["a"], table["b"]).statistic
    assert correlation_matrix(table, ["a", "b"], kind="kendall").iloc[0, 1] == pytest.approx(want, abs=1e-12)


def test_clustered_intervals_are_wider_where_questions_differ(ratios):
    row = correlation_table(ratios, ["wr", "tr"], kinds=["pearson"], seed=1, resamples=499).iloc[0]
    assert row["high"] - row["low"] > 3 * (row["fisher_high"] - row["fisher_low"])


@few
@given(st.integers(0, 1000))
def test_rows_order_names_and_monotone_maps_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"question_id": rng.integers(0, 4, 24).astype(str), "a": rng.integers(0, 6, 24)})
    table["b"] = table["a"] + rng.integers(0, 6, 24)
    other = table.assign(b=np.exp(table["b"]), question_id="x" + table["question_id"]).sample(frac=1, random_state=1)
    a, b = (
        correlation_table(t, ["a", "b"], kinds=["spearman"], seed=1, resamples=99).iloc[0] for t in (table, other)
    )
    assert a["r"] == pytest.approx(b["r"], abs=1e-12)
    assert a["r"] == pytest.approx(scipy_stats.spearmanr(table["a"], table["b"]).statistic, abs=1e-12)
    twice = correlation_matrix(pd.concat([table, table]), ["a", "b"]).iloc[0, 1]
    assert twice == pytest.approx(a["r"], abs=1e-12)


def test_default_metrics_are_those_the_table_has_and_partial_leaves_out_the_sum():
    table = correlation_table(synthetic_outcomes(questions=8), seed=1, resamples=49, level=0.9)
    spearman, partial = (table[table["kind"] == kind] for kind in ("spearman", "partial"))
    assert len(spearman) == 10 * 9 / 2
    assert "score" not in set(partial["first"]) | set(partial["second"])
    assert table["dropped"].iloc[0] > 0
    assert spearman["r"].notna().all()


def test_a_metric_that_does_not_vary_has_no_correlation_and_says_so():
    table = pd.DataFrame({"question_id": list("aabb"), "x": [1.0, 2, 3, 4], "y": [5.0] * 4})
    row = correlation_table(table, ["x", "y"], kinds=["pearson"], seed=1, resamples=99).iloc[0]
    assert np.isnan(row["r"])
    assert "does not vary" in row["note"]


def test_one_question_has_no_clustered_interval():
    table = pd.DataFrame({"question_id": "q", "x": [1.0, 2, 3, 5, 4], "y": [5.0, 4, 3, 1, 2]})
    row = correlation_table(table, ["x", "y"], kinds=["pearson"], seed=1).iloc[0]
    assert row["r"] == pytest.approx(-1)
    assert "one question" in row["note"]
    assert np.isnan(row["low"])


@pytest.mark.parametrize(
    ("metrics", "kind", "message"),
    [
        (["score"], "pearson", "two different"),
        (["score", "charm"], "pearson", "charm"),
        (["score", "accuracy"], "x", "unknown"),
    ],
)
def test_what_cannot_be_correlated_is_refused(metrics, kind, message):
    with pytest.raises(StatisticsError, match=message):
        correlation_matrix(study(), metrics, kind=kind)


def test_too_few_complete_runs_are_refused():
    with pytest.raises(StatisticsError, match="0 runs have all the metrics"):
        correlation_matrix(study().assign(x=np.nan), ["score", "x"])
