"""The figures with estimates of their own: numbers by hand, captions, and the edges of a study."""

import struct
import zlib

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from dsqa.bank import Bank, Question
from dsqa.errors import ReportError
from dsqa.figures import FIGURES, NotApplicableError, StudyTables, draw_figure
from dsqa.figures.bank_composition import bank_composition_data
from dsqa.figures.correlation import correlation_heatmap_data, correlation_heatmap_figure, correlations_of
from dsqa.figures.cost import cost_reliability_caption, cost_reliability_data, cost_reliability_of
from dsqa.figures.cumulative import cumulative_mean_data, cumulative_of
from dsqa.figures.drawings import UnreadablePictureError, distances, open_picture, thumbprint
from dsqa.figures.instability_groups import instability_groups_data, instability_groups_of
from dsqa.figures.runs_needed import runs_needed_of
from dsqa.figures.verbosity import verbosity_fit_caption, verbosity_of, verbosity_residuals_data
from dsqa.stats import wilson
from tests.figures.cells import bank_of, cells_of
from tests.figures.test_drawn import points
from tests.figures.test_edges import draw_all
from tests.support.synthetic import synthetic_outcomes

NEW = (
    "bank-composition", "instability-by-category", "correlation-heatmap", "verbosity-fit", "verbosity-residuals",
    "question-by-model", "question-by-temperature", "runs-needed", "cumulative-mean", "cost-reliability",
)  # fmt: skip


def tables_of(outcomes: pd.DataFrame, **more) -> StudyTables:
    return StudyTables(outcomes, cells_of(outcomes), bank_of(outcomes), seed=1, **more)


def question(name: str, category: str, level: str) -> Question:
    return Question(
        id=name, question="How many?", format="@x[n]", level=level, common_answers=(("x", "1"),), category=category
    )


def test_bank_composition_counts_questions_largest_category_first():
    bank = Bank((question("a", "PCA", "easy"), question("b", "Plots", "hard"), question("c", "Plots", "hard")), None)
    data = bank_composition_data(bank)
    assert list(dict.fromkeys(data["category"])) == ["Plots", "PCA"]
    assert data.set_index(["category", "level"])["questions"].to_dict() == {
        ("Plots", "easy"): 0, ("Plots", "medium"): 0, ("Plots", "hard"): 2,
        ("PCA", "easy"): 1, ("PCA", "medium"): 0, ("PCA", "hard"): 0,
    }  # fmt: skip


def test_group_means_are_means_over_questions_and_their_interval_has_a_name():
    outcomes = synthetic_outcomes(questions=6)
    cells = cells_of(outcomes).assign(instability=[0.0, 0.2, 0.1, 0.3, 0.4, 0.6, 0.5, 0.7, 0.2, 0.2, 0.9, 0.5])
    data = instability_groups_data(instability_groups_of(StudyTables(outcomes, cells, seed=1)))
    cold = data[data["condition"] == "T = 0.2"].set_index(["category", "level"])
    assert cold.loc[("all questions", "all questions"), "instability"] == pytest.approx(2.1 / 6)
    assert cold.loc[("Linear Regression", "all questions"), "instability"] == pytest.approx((0 + 0.4 + 0.2) / 3)
    assert cold.loc[("Linear Regression", "all questions"), "n_questions"] == 3
    assert "Student t" in cold.loc[("all questions", "all questions"), "instability_method"]


def test_correlations_are_spearman_over_pairs_with_their_own_n_and_undefined_for_a_constant():
    # Ranks of b against a: 2 1 3 5 4, so ρ = 1 − 6·(1 + 1 + 0 + 1 + 1)/(5·24) = 0.8.
    table = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6], "b": [20.0, 10, 30, 50, 40, np.nan], "c": 7.0})
    outcomes = table.assign(question_id="q", condition_id="m")
    found = correlations_of(StudyTables(outcomes, outcomes), metrics=["a", "b", "c"])
    rows = {(r.metric, r.other): (r.correlation, r.n) for r in correlation_heatmap_data(found).itertuples()}
    assert rows["b", "a"] == (pytest.approx(0.8), 5)
    assert np.isnan(rows["c", "a"][0])
    assert rows["c", "a"][1] == 6
    (axes,) = correlation_heatmap_figure(found).axes
    texts = {t.get_position(): t.get_text() for t in axes.texts}
    assert (texts[0.5, 1.5], texts[0.5, 2.5], texts[1.5, 0.5]) == ("+0.80", "–", "5")


def test_correlation_of_metrics_that_never_vary_does_not_apply():
    outcomes = synthetic_outcomes(questions=1, runs=3).assign(words_out=1, tokens_out=1)
    with pytest.raises(NotApplicableError, match="no two metrics vary"):
        correlations_of(StudyTables(outcomes, outcomes), metrics=["words_out", "tokens_out"])


def ratios() -> pd.DataFrame:
    words = np.array([0.5, 1.0, 2.0, 4.0, 1.5])
    table = pd.DataFrame({"word_ratio": words, "token_ratio": 1.5 * words**2, "run": range(5)})
    return table.assign(question_id=["q", "q", "r", "r", "s"], condition_id="c")


def test_verbosity_finds_an_exact_power_law():
    outcomes = pd.concat([ratios(), ratios().assign(token_ratio=np.nan)])
    found = verbosity_of(StudyTables(outcomes, outcomes))
    assert (found.slope, np.exp(found.intercept), found.missing) == (pytest.approx(2), pytest.approx(1.5), 5)
    caption = verbosity_fit_caption(found).text
    assert "b = 2.000 (95 % CI 2.000 to 2.000" in caption
    assert "5 runs drawn. Without both ratios, and so not drawn: 5 runs." in caption


def test_verbosity_band_is_the_interval_of_the_line_and_residuals_beyond_two_sd_are_marked():
    runs = synthetic_outcomes(questions=5)
    found = verbosity_of(tables_of(runs))
    data = verbosity_residuals_data(found)
    assert np.allclose(np.sort(data["residual"]), np.sort(found.fit.residuals))
    assert data["beyond"].mean() == pytest.approx(found.fit.beyond_two_sd)
    # Where the logarithm is 0 the line is its intercept, whose interval the fit gives.
    interval = found.fit.interval("Intercept")
    assert found.half_band(np.array([1.0]))[0] == pytest.approx(interval.width / 2)


def test_running_mean_and_its_sequence_follow_the_order_of_the_runs():
    outcomes = synthetic_outcomes(questions=1, temperatures=(1.0,), runs=4).assign(accuracy=[0, 1, 1, 0])
    shuffled = outcomes.iloc[[2, 0, 3, 1]]
    data = cumulative_mean_data(cumulative_of(tables_of(shuffled), question="q01"))
    assert data["n"].tolist() == [1, 2, 3, 4]
    assert data["mean"].tolist() == pytest.approx([0, 1 / 2, 2 / 3, 1 / 2])
    last, fixed = data.iloc[-1], wilson(2, 4)
    assert (last["wilson_low"], last["wilson_high"]) == (pytest.approx(fixed.low), pytest.approx(fixed.high))
    assert last["low"] < fixed.low
    assert last["high"] > fixed.high


def test_runs_needed_falls_with_runs_and_names_the_first_that_suffices():
    needed = runs_needed_of(tables_of(synthetic_outcomes(questions=4)), target=0.2, runs=(5, 100, 400))
    cell = needed.table[needed.table["of"] == "one cell"].groupby("runs")["half_width"].mean()
    assert cell.is_monotonic_decreasing
    assert cell[100] < 0.2 < cell[5]
    assert "a single cell from 100 runs on" in FIGURES["runs-needed"].caption(needed).text


class Priced(StudyTables):
    """Tables with a cost per run that the test gives."""

    def __init__(self, outcomes, costs):
        super().__init__(outcomes, cells_of(outcomes), seed=1)
        self.__dict__["costs"] = costs


def costs_of(outcomes: pd.DataFrame, cold: float, warm: float, currency: str = "EUR") -> pd.DataFrame:
    costs = outcomes[["question_id", "condition_id", "run"]].copy()
    return costs.assign(cost=np.where(outcomes["temperature"] == 0.2, cold, warm), currency=currency)


def test_cost_per_right_answer_is_cost_over_accuracy_and_small_money_is_shown_per_thousand():
    outcomes = synthetic_outcomes(questions=4)
    found = cost_reliability_of(Priced(outcomes, costs_of(outcomes, 0.002, 0.004)), per="right")
    data = cost_reliability_data(found).set_index("condition")
    accuracy = outcomes[outcomes["temperature"] == 1.0].groupby("question_id")["accuracy"].mean().mean()
    assert data.loc["T = 1", "cost"] == pytest.approx(0.004)
    assert data.loc["T = 1", "cost_per_right"] == pytest.approx(0.004 / accuracy)
    assert data.loc["T = 1", "cost_per_right_low"] < 0.004 / accuracy < data.loc["T = 1", "cost_per_right_high"]
    assert "Cost, EUR per 1,000 right answers" in cost_reliability_caption(found).alt


@pytest.mark.parametrize(
    ("cold", "warm", "why"),
    [(0.0, 0.0, "no run of the study has a price above 0"), (0.1, np.nan, "not every condition has a price")],
)
def test_without_prices_tokens_stand_on_the_axis_and_the_caption_says_why(cold, warm, why):
    outcomes = synthetic_outcomes(questions=3)
    found = cost_reliability_of(Priced(outcomes, costs_of(outcomes, cold, warm)))
    assert found.unit == "tokens"
    assert why in cost_reliability_caption(found).text
    assert "Tokens (prompt + response) per run" in cost_reliability_caption(found).alt


def test_the_question_shown_is_the_one_on_which_models_differ_most():
    outcomes = synthetic_outcomes(questions=3, models=("a", "b"), temperatures=(1.0,))
    outcomes["jaccard_first"] = outcomes["jaccard_first"].astype(float).where(outcomes["run"] == 0, 0.5)
    outcomes.loc[
        (outcomes["question_id"] == "q02") & (outcomes["model"] == "b") & (outcomes["run"] > 0), "jaccard_first"
    ] = 0.9
    (drawn,) = draw_figure("question-by-model", tables_of(outcomes))
    assert "Question q02, on which the models differ most in mean similarity (by 0.40)" in drawn.caption.text
    left, right = drawn.figure.axes
    assert sorted({x for x, _ in points(right)}) == [0.5, 0.9]
    assert len(points(left)) == drawn.data["tokens_total"].notna().sum()


def test_a_question_that_is_not_there_is_refused():
    for name in ("question-by-temperature", "cumulative-mean"):
        with pytest.raises(ReportError, match="no run of a question 'nope'"):
            next(draw_figure(name, tables_of(synthetic_outcomes(questions=1)), question="nope"))


def test_one_model_one_temperature_one_question_one_run():
    outcomes = synthetic_outcomes(questions=1, temperatures=(1.0,), runs=1)
    left_out = draw_all(outcomes, only=NEW)
    assert left_out["question-by-model"] == "there is one model only"
    assert left_out["question-by-temperature"] == "there is one temperature only"
    assert left_out["cost-reliability"] == "there is one condition only: nothing to set its cost against"
    assert left_out["verbosity-fit"] == "1 complete rows are too few for 2 coefficients"
    assert "at least two marked questions" in left_out["runs-needed"]


def test_twelve_conditions_with_long_names_keep_to_the_page():
    long = "organisation/a-very-long-name-of-a-model-and-its-version-"
    outcomes = synthetic_outcomes(questions=2, models=tuple(f"{long}{i}" for i in range(6)), runs=2)
    outcomes["question_id"] = ("a question id that is longer than any axis, " + outcomes["question_id"]).astype(
        "string"
    )
    assert set(draw_all(outcomes, only=NEW)) == {"bank-composition"}


def test_all_runs_failed():
    outcomes = synthetic_outcomes(questions=2, models=("a", "b"), runs=3).assign(
        status="failed", score=0.0, accuracy=0, completion=0, executability=0, tokens_total=pd.NA, tokens_in=pd.NA,
        jaccard_first=pd.NA, jaccard_mean=pd.NA, word_ratio=pd.NA, token_ratio=pd.NA, words_out=pd.NA,
        tokens_out=pd.NA, seconds=pd.NA,
    )  # fmt: skip
    left_out = draw_all(
        outcomes, only=("correlation-heatmap", "verbosity-fit", "question-by-model", "cost-reliability")
    )
    assert set(left_out) == {"correlation-heatmap", "verbosity-fit", "cost-reliability"}


def picture(path, shade: int, size=(64, 48)):
    image = Image.new("L", size, 255)
    image.paste(shade, (0, 0, size[0] // 2, size[1]))
    image.save(path)
    return path


def test_distance_of_pictures_is_the_mean_difference_of_grey(tmp_path):
    black, grey = picture(tmp_path / "b.png", 0), picture(tmp_path / "g.png", 153, (640, 480))
    prints = np.stack([thumbprint(open_picture(path)) for path in (black, grey)])
    # Half of each picture differs, by 153/255 = 0.6.
    assert distances(prints, prints)[0, 1] == pytest.approx(0.3)


def test_pictures_that_are_damaged_or_huge_are_told_apart_and_not_decoded(tmp_path):
    whole = picture(tmp_path / "whole.png", 0).read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    # Its header alone: nothing that is refused for its size needs a body.
    header = b"IHDR" + struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    (tmp_path / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + whole[33:])
    for name, why in (("cut", "picture damaged"), ("huge", "picture too large")):
        with pytest.raises(UnreadablePictureError, match=why):
            open_picture(tmp_path / f"{name}.png")
