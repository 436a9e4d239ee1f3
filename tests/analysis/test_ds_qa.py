"""The paper's analyses on files of the same shape: what they were made with is found again."""

from __future__ import annotations

import argparse
import runpy
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from analysis.ds_qa.common import open_study, part
from analysis.ds_qa.intervals import exponent_intervals
from analysis.ds_qa.numbers import MEASURES
from analysis.ds_qa.published import as_printed, compare_published, published
from dsqa.errors import StudyError
from dsqa.stats import summarise_cells
from tests.report.study import make_study
from tests.support.ds_qa_files import Truth


@pytest.fixture(scope="module", autouse=True)
def _few_resamples():
    """Cells' intervals are no part of what is tested here, and with 9,999 resamples take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analysis.ds_qa.common.summarise_cells", partial(summarise_cells, resamples=99))
        yield


def opened(folder, tmp_path, values=None):
    return open_study(argparse.Namespace(study=folder.root, values=values, out=tmp_path))


@pytest.fixture(scope="module")
def study(imported, tmp_path_factory):
    return opened(imported, tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def every_run(study):
    return exponent_intervals(study.outcomes, resamples=499)


def test_the_sources_own_numbers_stand_in_for_ours(study, imported, tmp_path):
    assert study.values == "source"
    assert study.replaced["word_ratio"] == "verbosity_ratio_words"
    assert study.outcomes["word_ratio"].notna().all()
    # Marks that the source has not filled in are missing and not wrong.
    assert int(study.outcomes["accuracy"].isna().sum()) == 224
    assert int(study.outcomes["score"].isna().sum()) == 224
    ours = opened(imported, tmp_path, "ours")
    assert ours.outcomes["accuracy"].notna().all()
    # Prompts were not in the files, so a ratio of ours cannot be.
    assert ours.outcomes["word_ratio"].isna().all()


def test_exponent_and_intervals_are_those_of_statsmodels(study):
    chosen = part(study, "gpt-4o", 1.0).outcomes
    table = exponent_intervals(chosen, resamples=99).set_index(["unit", "construction"])
    data = pd.DataFrame({
        "x": np.log(chosen["word_ratio"].to_numpy(dtype=float)),
        "y": np.log(chosen["token_ratio"].to_numpy(dtype=float)),
        "q": chosen["question_id"].astype(str).astype("category").cat.codes,
    })  # fmt: skip
    fit = smf.ols("y ~ x", data)
    for name, options in {
        "OLS, classical, t": {},
        "HC0, t": {"cov_type": "HC0", "use_t": True},
        "HC3, t": {"cov_type": "HC3", "use_t": True},
        "cluster by question, t": {"cov_type": "cluster", "cov_kwds": {"groups": data["q"]}, "use_t": True},
    }.items():
        low, high = fit.fit(**options).conf_int().loc["x"]
        row = table.loc[("runs", name)]
        assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high)), name
    means = data.groupby("q").mean()
    low, high = smf.ols("y ~ x", means).fit().conf_int().loc["x"]
    row = table.loc[("questions, means of logs", "OLS, classical, t")]
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))


def test_recovered_exponent_is_the_one_the_files_were_made_with(study, every_run):
    table = every_run.set_index(["unit", "construction"])
    row = table.loc[("runs", "cluster by question, HC3, t")]
    assert row["low"] < Truth().exponent < row["high"]
    # Runs of a question share its shift: an interval that takes them as independent is the narrower one.
    classical = table.loc[("runs", "OLS, classical, t")]
    assert classical["high"] - classical["low"] < row["high"] - row["low"]
    # By theory the slope over question means has error √(σ²_q + σ²_e/N)/√SSx; the fitted one is within a factor.
    questions = study.outcomes.groupby("question_id")["word_ratio"].apply(lambda x: np.log(x.astype(float)).mean())
    theory = Truth().question_sd / np.sqrt(((questions - questions.mean()) ** 2).sum())
    means = table.loc[("questions, means of logs", "OLS, classical, normal")]
    assert 0.4 < (means["high"] - means["low"]) / (2 * 1.96 * theory) < 2.0


def test_bootstrap_over_cells_and_questions_differ_from_that_over_runs(every_run):
    table = every_run.set_index(["unit", "construction"])
    width = (table["high"] - table["low"])["runs"]
    assert width["bootstrap over questions"] > width["bootstrap over cells"] > width["bootstrap over runs"]


@pytest.mark.parametrize(
    ("value", "printed", "ours"),
    [(1.0149, "1.01", "1.01"), ((0.9512, 1.0749), "[0.95, 1.07]", "[0.95, 1.07]"), (-0.001, "-0.01", "0.00"),
     (66.4, "66", "66"), (263.2, "259 to 265", "263")],
)  # fmt: skip
def test_numbers_are_set_in_the_printed_digits(value, printed, ours):
    assert as_printed(value, printed) == ours


def test_every_published_number_has_a_function_and_a_place():
    assert len(published()) >= 20
    for number in published():
        assert number["measure"] in MEASURES
        assert number["place"].startswith(("Section", "Figure", "Table"))


def test_published_table_says_what_agrees_and_what_is_not_there(study):
    table = compare_published(study)
    exponents = table[table["says"].str.startswith("exponent of")]
    on_runs = exponents[exponents["how"] == "OLS on runs"].iloc[0]
    expected = exponent_intervals(part(study, "gpt-4o", 1.0).outcomes, resamples=99)["exponent"].iloc[0]
    assert on_runs["ours"] == f"{expected:.2f}"
    assert on_runs["same"] == ("yes" if f"{expected:.2f}" == "1.01" else "no")
    assert (table.loc[table["of"].str.contains("question 56"), "how"] == "this study has no such runs").all()
    # A range: three averages lie in it or not, by the number itself.
    assert set(table["same"]) <= {"yes", "no", "about", ""}


def test_a_number_that_agrees_is_found(study, monkeypatch):
    low, high = exponent_intervals(part(study, "gpt-4o", 1.0).outcomes, resamples=99)[["low", "high"]].iloc[4]
    row = {"measure": "exponent interval", "printed": f"[{low:.2f}, {high:.2f}]", "place": "Section 0",
           "says": "made", "model": "gpt-4o", "temperature": 1}  # fmt: skip
    monkeypatch.setattr("analysis.ds_qa.published.published", lambda: (row,))
    table = compare_published(study)
    assert "yes" in set(table["same"])
    assert table.loc[table["same"] == "yes", "how"].str.contains("runs").any()


def test_another_models_study_is_set_beside_the_paper_as_a_whole(tmp_path):
    from dsqa.outcomes import load_outcomes, save_table

    folder = make_study(tmp_path / "s", runs=4)
    save_table(summarise_cells(load_outcomes(folder.outcomes_path), seed=1, resamples=99), folder.cells_path)
    own = opened(folder, tmp_path)
    assert (own.ours, own.values) == (True, "ours")
    table = compare_published(own)
    assert (table.loc[table["of"].str.contains("question"), "how"] == "this study has no such runs").all()
    assert table.loc[table["says"].str.startswith("Spearman"), "ours"].iloc[0] != ""
    with pytest.raises(StudyError, match="no metrics of a source"):
        opened(folder, tmp_path, "source")


def started(monkeypatch, name: str, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    runpy.run_module(f"analysis.ds_qa.{name}", run_name="__main__")


def test_scripts_write_figures_and_tables(imported, tmp_path, monkeypatch):
    wanted = {
        "verbosity": {"verbosity-fit.svg", "verbosity-residuals.pdf", "verbosity.csv", "verbosity-intervals.csv"},
        "instability": {"instability-by-category.svg", "instability.csv"},
        "models": {"question-by-model.svg", "models.csv"},
        "correlation": {"correlation-heatmap.svg", "correlation.csv"},
        "bank": {"bank-composition.svg", "bank.csv"},
    }
    for name, files in wanted.items():
        few = ["--resamples", 99] if name in {"verbosity", "correlation"} else []
        started(monkeypatch, name, imported.root, "--out", tmp_path / name, *few)
        assert files <= {path.name for path in (tmp_path / name).iterdir()}


def test_a_folder_that_is_no_study_is_refused_in_one_line(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match=r"no study\.json in it") as refusal:
        started(monkeypatch, "bank", tmp_path)
    assert "\n" not in str(refusal.value)
