"""Variance components of crossed facets: against R, the analysis of variance, and brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.errors import StatisticsError
from dsqa.stats.generalisability import g_study
from tests.stats.data import reference, study


def crossed(seed: int, shape: tuple[int, int, int], sd: tuple[float, float, float, float]) -> pd.DataFrame:
    """Return scores of question × model × run with SDs of question, model, question:model, run."""
    rng = np.random.default_rng(seed)
    q, m, r = shape
    y = sd[0] * rng.normal(size=(q, 1, 1)) + sd[1] * rng.normal(size=(1, m, 1))
    y = y + sd[2] * rng.normal(size=(q, m, 1)) + sd[3] * rng.normal(size=shape)
    index = pd.MultiIndex.from_product([range(q), range(m), range(r)], names=["question_id", "model", "run"])
    return pd.DataFrame({"score": y.ravel()}, index=index).reset_index()


def test_nested_terms_are_rs_closed_form() -> None:
    want = reference()["d_anova_closed_form"]["variance"]
    got = g_study(study(), terms=["question", "question:model"]).components
    assert got["question"] == pytest.approx(want["question"], rel=1e-10)
    assert got["question:model"] == pytest.approx(want["question_model"], rel=1e-10)
    assert got["run"] == pytest.approx(want["residual"], rel=1e-10)


def test_crossed_terms_are_lmers() -> None:
    # lmer stops within 1e-5 of the optimum, see the reference's README.
    want = reference()["d_lmer_gstudy_reml"]["variance"]
    terms = ["question", "model", "question:model", "question:model:temperature"]
    got = g_study(study(), terms=terms).components
    assert got["question"] == pytest.approx(want["question_id"], rel=1e-3)
    assert got["model"] == pytest.approx(want["model"], rel=1e-3)
    assert got["question:model"] == pytest.approx(want["question_id:model"], rel=1e-3)
    assert got["question:model:temperature"] == pytest.approx(want["question_id:model:temperature"], rel=1e-3)
    assert got["run"] == pytest.approx(want["Residual"], rel=1e-4)


def test_balanced_data_give_the_analysis_of_variance() -> None:
    table = crossed(1, (6, 4, 3), (1, 0.5, 0.7, 0.4))
    y = table["score"].to_numpy().reshape(6, 4, 3)
    cell, q, m, all_ = y.mean(axis=2), y.mean(axis=(1, 2)), y.mean(axis=(0, 2)), y.mean()
    ms_run = ((y - cell[:, :, None]) ** 2).sum() / (6 * 4 * 2)
    ms_qm = 3 * ((cell - q[:, None] - m + all_) ** 2).sum() / (5 * 3)
    ms_q, ms_m = 12 * ((q - all_) ** 2).sum() / 5, 18 * ((m - all_) ** 2).sum() / 3
    got = g_study(table).components
    assert got["run"] == pytest.approx(ms_run, rel=1e-10)
    assert got["question:model"] == pytest.approx((ms_qm - ms_run) / 3, rel=1e-10)
    assert got["question"] == pytest.approx((ms_q - ms_qm) / 12, rel=1e-10)
    assert got["model"] == pytest.approx((ms_m - ms_qm) / 18, rel=1e-10)


def test_unbalanced_data_solve_the_equations_written_with_matrices() -> None:
    table = crossed(2, (5, 3, 4), (1, 0.5, 0.7, 0.4)).sample(frac=0.6, random_state=1).reset_index(drop=True)
    got = g_study(table, terms=["question", "model", "question:model"]).components
    n = len(table)
    centre = np.eye(n) - 1 / n
    pairs = table["question_id"].astype(str) + table["model"].astype(str)
    designs = [pd.get_dummies(c).to_numpy(float) for c in (table["question_id"], table["model"], pairs)]
    v = [z @ z.T for z in designs] + [np.eye(n)]
    left = [[np.trace(centre @ a @ centre @ b) for b in v] for a in v]
    y = table["score"].to_numpy()
    right = [y @ centre @ a @ centre @ y for a in v]
    assert list(got.values()) == pytest.approx(np.linalg.solve(left, right).tolist(), rel=1e-9)


def test_unbiased_on_unbalanced_data() -> None:
    kept = np.random.default_rng(3).random(8 * 3 * 4) < 0.7
    got = [
        list(g_study(crossed(seed, (8, 3, 4), (1, 0.5, 0.6, 0.8))[kept]).components.values()) for seed in range(150)
    ]
    error = np.std(got, axis=0) / np.sqrt(len(got))
    assert (np.abs(np.mean(got, axis=0) - np.square([1, 0.5, 0.6, 0.8])) < 4 * error).all()


def test_coefficients_by_hand() -> None:
    fitted = g_study(crossed(4, (30, 4, 5), (1, 0.5, 0.7, 0.9)))
    c = fitted.components
    relative = c["question:model"] / 2 + c["run"] / 20
    absolute = relative + c["model"] / 2
    assert fitted.error_variance(absolute=False, model=2, run=10) == pytest.approx(relative)
    assert fitted.error_variance(absolute=True, model=2, run=10) == pytest.approx(absolute)
    assert fitted.generalisability(model=2, run=10) == pytest.approx(c["question"] / (c["question"] + relative))
    assert fitted.dependability(model=2, run=10) == pytest.approx(c["question"] / (c["question"] + absolute))
    assert fitted.dependability(model=2, run=10) < fitted.generalisability(model=2, run=10)


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False))
def test_row_order_and_names_do_not_matter(random) -> None:
    table = crossed(5, (5, 3, 3), (1, 0.5, 0.7, 0.4))
    order = list(range(len(table)))
    random.shuffle(order)
    renamed = table.assign(question_id=table["question_id"].map(lambda q: f"name {-q}")).iloc[order]
    first, second = g_study(table).components, g_study(renamed).components
    assert list(first.values()) == pytest.approx(list(second.values()), rel=1e-9)


def test_shares_add_up_and_a_negative_component_counts_as_none() -> None:
    rows = [(q, m, 3.0 * q + m + r) for q in range(3) for m in range(2) for r in (0, 1)]
    fitted = g_study(pd.DataFrame(rows, columns=["question_id", "model", "score"]))
    assert fitted.components["question:model"] < 0
    assert fitted.shares()["question:model"] == 0
    assert sum(fitted.shares().values()) == pytest.approx(1)
    assert fitted.table()["term"].tolist() == ["question", "model", "question:model", "run"]


def test_readers_are_a_facet_like_any_other() -> None:
    table = crossed(6, (10, 3, 4), (1, 0, 0, 0.5))
    marked = pd.concat([table.assign(reader="a"), table.assign(reader="b", score=table["score"] + 1)])
    facets = {"question": "question_id", "reader": "reader"}
    got = g_study(marked, facets=facets, terms=["question", "reader"]).components
    assert got["reader"] == pytest.approx(0.5, rel=0.05)  # the variance of two levels one apart


def test_one_temperature_is_no_facet_by_default() -> None:
    fitted = g_study(crossed(7, (5, 3, 3), (1, 0.5, 0.7, 0.4)).assign(temperature=1.0))
    assert "temperature" not in fitted.levels


@pytest.mark.parametrize(
    ("table", "settings", "said"),
    [
        (crossed(1, (1, 3, 3), (1, 1, 1, 1)), {}, "two levels of question"),
        (crossed(1, (3, 3, 1), (1, 1, 1, 1)), {"terms": ["question", "model", "question:model"]}, "told apart"),
        (crossed(1, (3, 2, 2), (1, 1, 1, 1)), {"terms": ["colour"]}, "no term"),
        (crossed(1, (3, 2, 2), (1, 1, 1, 1)), {"subject": "colour"}, "no facet"),
        (crossed(1, (3, 2, 2), (1, 1, 1, 1)).drop(columns="score"), {}, "score"),
        (crossed(1, (3, 2, 2), (1, 1, 1, 1)).assign(score=np.nan), {}, "two levels"),
    ],
)
def test_what_cannot_be_told_is_refused(table: pd.DataFrame, settings: dict, said: str) -> None:
    with pytest.raises(StatisticsError, match=said):
        g_study(table, **settings)


def test_equal_scores_have_no_shares() -> None:
    fitted = g_study(crossed(1, (3, 2, 2), (0, 0, 0, 0)))
    with pytest.raises(StatisticsError, match="all scores are equal"):
        fitted.shares()
    with pytest.raises(StatisticsError, match="is no facet"):
        fitted.generalisability(colour=2)
    with pytest.raises(StatisticsError, match="at least 1"):
        fitted.generalisability(run=0)
