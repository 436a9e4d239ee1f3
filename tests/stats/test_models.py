from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.genmod.cov_struct import Exchangeable
from statsmodels.genmod.generalized_estimating_equations import GEE

from dsqa.errors import StatisticsError
from dsqa.stats import gee, glmm, likelihood_ratio
from dsqa.stats.design import design

from .data import reference, study

LEVELS = 'accuracy ~ temperature + C(level, levels=["easy", "medium", "hard"])'
DEGENERATE = ["q01", "q02", "q03", "q06", "q09"]


def in_order(values: dict[str, float]) -> list[float]:
    """Intercept, temperature, medium, hard: the order of the reference."""
    named = {term.rsplit("T.", 1)[-1].rstrip("]"): value for term, value in values.items()}
    return [named[name] for name in ("Intercept", "temperature", "medium", "hard")]


@pytest.mark.parametrize(
    ("key", "nodes", "all_questions"),
    [
        ("laplace", 1, True),
        ("agq25", 25, True),
        ("laplace_no_degenerate", 1, False),
        ("agq25_no_degenerate", 25, False),
    ],
)
def test_mixed_model_agrees_with_glmer_and_with_the_direct_likelihood(key, nodes, all_questions):
    table = study() if all_questions else study()[lambda t: ~t["question_id"].isin(DEGENERATE)]
    fit = glmm(LEVELS, table, nodes=nodes)
    direct, glmer = reference()["d_glmm_python_direct"][key], reference()["d_glmer_tight"][key]
    assert in_order(fit.coefficients) == pytest.approx(direct["fixed"], rel=1e-4)
    assert fit.spread**2 == pytest.approx(direct["var_question"], rel=1e-5)
    assert fit.log_likelihood == pytest.approx(direct["logLik"], rel=1e-10)
    assert in_order(fit.errors) == pytest.approx(direct["se_h2e3"], rel=1e-4)
    # glmer stops a little earlier.
    assert in_order(fit.coefficients) == pytest.approx(list(glmer["fixed"].values()), rel=1e-3)
    assert fit.latent_icc == pytest.approx(glmer["icc_latent"], rel=1e-4)


def test_without_spread_between_questions_it_is_a_plain_logistic_regression():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"question_id": np.repeat(np.arange(8), 30), "x": rng.normal(size=240)})
    # Each question has the same runs: nothing is left for the intercepts.
    table["x"] = np.tile(table["x"][:30], 8)
    table["y"] = np.tile((rng.random(30) < 0.5).astype(int), 8)
    fit, plain = glmm("y ~ x", table), sm.Logit(table["y"], sm.add_constant(table["x"])).fit(disp=0)
    assert fit.spread == pytest.approx(0, abs=1e-3)
    assert list(fit.coefficients.values()) == pytest.approx(list(plain.params), abs=1e-4)
    assert list(fit.errors.values()) == pytest.approx(list(plain.bse), rel=1e-3)


def test_likelihood_ratio_of_models():
    table = study()
    full, reduced = glmm("accuracy ~ C(model)", table), glmm("accuracy ~ 1", table)
    chi2, df, p = likelihood_ratio(full, reduced)
    assert df == 2
    assert p < 1e-40
    assert chi2 == pytest.approx(2 * (full.log_likelihood - reduced.log_likelihood))
    with pytest.raises(StatisticsError, match="fewer terms"):
        likelihood_ratio(reduced, full)
    with pytest.raises(StatisticsError, match="only mixed models"):
        likelihood_ratio(full, gee("accuracy ~ 1", table))


def test_mixed_model_recovers_what_was_simulated():
    rng = np.random.default_rng(2)
    rows = []
    for q in range(150):
        u = rng.normal(0, 1.2)
        for x in (0.0, 1.0):
            p = 1 / (1 + math.exp(-(0.3 + 0.8 * x + u)))
            rows += [(q, x, int(rng.random() < p)) for _ in range(20)]
    fit = glmm("y ~ x", pd.DataFrame(rows, columns=["question_id", "x", "y"]))
    value, ci, _ = fit.contrast({"x": 1.0})
    assert ci.low <= 0.8 <= ci.high
    assert value == pytest.approx(0.8, abs=0.15)
    assert fit.spread == pytest.approx(1.2, abs=0.2)


def test_rows_in_another_order_give_the_same_fits():
    table = study().sample(2000, random_state=1)
    for fit in (glmm, gee):
        a, b = fit("accuracy ~ C(model)", table), fit("accuracy ~ C(model)", table.sample(frac=1, random_state=2))
        assert list(a.coefficients.values()) == pytest.approx(list(b.coefficients.values()), rel=1e-6)
        assert list(a.errors.values()) == pytest.approx(list(b.errors.values()), rel=1e-5)


@pytest.mark.parametrize(
    ("formula", "family", "theirs"),
    [
        ("accuracy ~ temperature + C(model)", "binomial", sm.families.Binomial()),
        ("score ~ temperature + C(level)", "gaussian", sm.families.Gaussian()),
    ],
)
@pytest.mark.parametrize(("errors", "kind"), [("robust", "robust"), ("bias-reduced", "bias_reduced")])
def test_gee_agrees_with_statsmodels(formula, family, theirs, errors, kind):
    table = study()[lambda t: t["run"] <= 8]
    table = table.drop(table.index[::17])  # unbalanced
    fit, made = gee(formula, table, family=family, errors=errors), design(formula, table, cluster="question_id")
    structure = Exchangeable()
    want = GEE(made.y, made.x, made.clusters, family=theirs, cov_struct=structure).fit(
        maxiter=500, ctol=1e-12, cov_type=kind
    )
    assert list(fit.coefficients.values()) == pytest.approx(list(want.params), rel=1e-6)
    assert list(fit.errors.values()) == pytest.approx(list(want.bse), rel=1e-6)
    assert fit.spread == pytest.approx(float(structure.dep_params), rel=1e-6)


def test_gee_with_independence_is_a_glm_with_clustered_errors():
    fit = gee(LEVELS, study(), correlation="independence", errors="robust")
    want = reference()["d_glm_no_random_effect"]
    assert in_order(fit.coefficients) == pytest.approx(list(want["coef"].values()), rel=1e-8)
    # R's vcovCL HC0 has the factor G/(G − 1) that these errors leave out.
    hc0 = np.array(list(want["cluster_hc0_se"].values()))
    assert in_order(fit.errors) == pytest.approx((hc0 * math.sqrt(19 / 20)).tolist(), rel=1e-6)


def test_gee_without_a_finite_solution_is_refused():
    """statsmodels reports a coefficient of -5.8e9 here, as converged."""
    with pytest.raises(StatisticsError, match="no finite solution"):
        gee(LEVELS, study())


def test_the_average_question_moves_less_than_one_question():
    table = study()
    inner, average = glmm("accuracy ~ C(model)", table), gee("accuracy ~ C(model)", table)
    term = "C(model)[T.model_c]"
    factor = math.sqrt(1 + 0.346 * inner.spread**2)
    assert abs(average.coefficients[term]) < abs(inner.coefficients[term])
    assert inner.coefficients[term] / average.coefficients[term] == pytest.approx(factor, rel=0.35)


def separated() -> pd.DataFrame:
    rows = [(q, x, int(x == 1 or (q + r) % 2)) for q in range(6) for x in (0, 1) for r in range(4)]
    return pd.DataFrame(rows, columns=["question_id", "x", "y"])


@pytest.mark.parametrize("fit", [glmm, gee])
def test_separation_is_refused(fit):
    with pytest.raises(StatisticsError, match="do not settle"):
        fit("y ~ x", separated())


@pytest.mark.parametrize("fit", [glmm, gee])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(y=1), "all runs are right"),
        (lambda t: t.assign(y=t["y"] * 2), "not only 0 and 1"),
        (lambda t: t.assign(question_id="q"), "one cluster"),
        (lambda t: t.drop(columns="question_id"), "lacks the columns"),
        (lambda t: t.assign(x=0), "does not vary"),
        (lambda t: t.rename(columns={"x": "z"}), "cannot be fitted"),
    ],
)
def test_what_cannot_be_fitted_is_refused(fit, change, message):
    with pytest.raises(StatisticsError, match=message):
        fit("y ~ x", change(separated()))


def test_too_few_clusters_for_the_terms_are_refused():
    table = study()[lambda t: t["question_id"].isin(["q04", "q07", "q08"])]
    with pytest.raises(StatisticsError, match="3 clusters are too few for 4"):
        gee("accuracy ~ C(temperature)", table)


def test_missing_values_are_dropped_and_counted():
    table = study()[["question_id", "accuracy", "temperature"]].astype({"accuracy": "Int64"})
    table.loc[table.index[:100], "accuracy"] = pd.NA
    assert glmm("accuracy ~ temperature", table).dropped == 100
    assert gee("accuracy ~ temperature", table).dropped == 100


def test_an_unknown_term_of_a_contrast_is_refused():
    with pytest.raises(StatisticsError, match="no term 'z'"):
        gee("accuracy ~ temperature", study()).contrast({"z": 1.0})
