"""Sizes, fonts, palette, axis labels and captions."""

import functools
import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from dsqa.figures import FIGURES, StudyTables, draw_figure, style
from dsqa.figures.style import HATCHES, HEAT, LEVELS, MARKERS, PALETTE, SMALL, VERDICTS, ink_on, luminance
from dsqa.stats import VERDICTS as STATS_VERDICTS
from tests.figures.cells import bank_of, cells_of
from tests.support.synthetic import synthetic_outcomes

OUTCOMES = synthetic_outcomes()
TABLES = StudyTables(OUTCOMES, cells_of(OUTCOMES), bank_of(OUTCOMES), seed=1)
NAMES = [name for name in FIGURES if name not in ("gallery", "question-by-model")]  # one model, and no folder


@functools.cache
def drawn(name):
    (one,) = draw_figure(name, TABLES)
    return one


def lightness(colour) -> float:
    """CIE L*, 0 to 100."""
    y = luminance(colour)
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def seen_by(colour, matrix) -> np.ndarray:
    """A colour as seen with a colour-vision deficiency, in CIELAB (Machado et al. 2009, severity 1)."""
    srgb = np.asarray(to_rgb(colour))
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.asarray(matrix) @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = (to_xyz @ linear) / np.array([0.9505, 1.0, 1.089])
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
TRITANOPIA = [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]


def test_luminance_is_that_of_wcag():
    assert luminance("white") == pytest.approx(1.0)
    assert luminance("black") == 0.0
    assert luminance("#808080") == pytest.approx(0.2159, abs=1e-4)


def test_palette_is_told_apart_in_grey_print():
    shades = [lightness(colour) for colour in PALETTE]
    assert min(abs(a - b) for a, b in itertools.combinations([*shades, 100.0], 2)) >= 15


@pytest.mark.parametrize("matrix", [PROTANOPIA, DEUTERANOPIA, TRITANOPIA], ids=["protan", "deutan", "tritan"])
def test_palette_is_told_apart_by_colour_blind_readers(matrix):
    seen = [seen_by(colour, matrix) for colour in PALETTE]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) >= 20


def test_colour_never_stands_alone():
    assert len(set(HATCHES)) == len(set(MARKERS)) == len(PALETTE)
    for marks in (LEVELS, VERDICTS):
        assert len({shape for _, shape in marks.values()}) == len(marks)


def test_heat_darkens_all_the_way():
    shades = [lightness(HEAT(v)) for v in np.linspace(0, 1, 101)]
    assert all(a > b for a, b in itertools.pairwise(shades))


def test_print_on_heat_has_enough_contrast():
    for value in np.linspace(0, 1, 101):
        ground, ink = luminance(HEAT(value)) + 0.05, luminance(ink_on(HEAT(value))) + 0.05
        assert max(ground, ink) / min(ground, ink) >= 4.1


def test_every_verdict_of_stats_has_a_mark():
    assert tuple(VERDICTS) == STATS_VERDICTS


@pytest.mark.parametrize("name", NAMES)
def test_figures_have_a_column_width_and_no_small_print(name):
    figure = drawn(name).figure
    assert round(figure.get_figwidth() * 25.4) in (89, 183)
    assert figure.get_figheight() * 25.4 <= 240
    texts = [t for t in figure.findobj(Text) if t.get_text().strip() and t.get_visible()]
    assert texts
    assert min(t.get_fontsize() for t in texts) >= SMALL


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_off_at_the_edge(name):
    figure = drawn(name).figure
    box = figure.get_tightbbox()
    assert box.x0 >= -0.01
    assert box.y0 >= -0.01
    assert box.x1 <= figure.get_figwidth() + 0.01
    assert box.y1 <= figure.get_figheight() + 0.01


@pytest.mark.parametrize("name", NAMES)
def test_captions_give_n_and_an_alt_text(name):
    caption = drawn(name).caption
    n = {
        "bank-composition": "N = 6 questions in 2 categories",
        "question-by-temperature": "N = 20 runs of 1 question under 2 conditions: 2 cells of 10 runs",
        "cumulative-mean": "N = 20 runs of 1 question under 2 conditions: 2 cells of 10 runs",
    }.get(name, "N = 120 runs of 6 questions under 2 conditions: 12 cells of 10 runs")
    assert n in caption.text
    assert caption.title
    assert len(caption.alt) > 40


def labels_of(figure) -> str:
    return " ".join(t.get_text() for t in figure.findobj(Text))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("instability", "Normalised instability (population SD of the score ÷ 1.5; 0 to 1)"),
        ("accuracy-instability", "Accuracy (share of runs that are right)"),
        ("answers", "Share of all runs of the cell"),
        ("tokens-by-temperature", "Tokens per response"),
        ("similarity-by-temperature", "Jaccard index with run 0"),
        ("question-map", "normalised instability (0 to 1)"),
        ("bank-composition", "Questions in the bank"),
        ("instability-by-category", "Mean normalised instability (population SD of the score ÷ 1.5; 0 to 1)"),
        ("correlation-heatmap", "Below the diagonal: Spearman correlation; above: runs that have both metrics"),
        ("verbosity-fit", "Token ratio (tokens in ÷ tokens out)"),
        ("verbosity-residuals", "Residual of log(token ratio)"),
        ("question-by-temperature", "Tokens per response"),
        ("runs-needed", "Half-width of the 95 % interval for accuracy"),
        ("cumulative-mean", "N, runs so far"),
        ("cost-reliability", "Tokens (prompt + response) per run"),
    ],
)
def test_axes_say_what_they_measure(name, label):
    assert label in labels_of(drawn(name).figure)


def test_similarity_caption_says_that_run_0_is_left_out():
    caption = FIGURES["similarity-by-temperature"].caption(OUTCOMES)
    assert "Run 0 is left out" in caption.text
    drawn = len(FIGURES["similarity-by-temperature"].data(OUTCOMES))
    assert f"{drawn} runs drawn" in caption.text


def test_tokens_caption_counts_runs_without_a_value():
    missing = int(OUTCOMES["tokens_total"].isna().sum())
    assert missing > 0
    assert f"not drawn: {missing} runs" in FIGURES["tokens-by-temperature"].caption(OUTCOMES).text


def test_style_leaves_the_callers_settings_as_they_were():
    before = dict(mpl.rcParams)
    with style():
        assert mpl.rcParams["font.family"] == ["DejaVu Sans"]
    assert dict(mpl.rcParams) == before


def test_drawing_leaves_no_figure_with_pyplot_and_no_setting_changed():
    before = dict(mpl.rcParams)
    for name in ("accuracy-instability", "cumulative-mean"):
        list(draw_figure(name, TABLES))
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_the_callers_own_theme_changes_nothing():
    kind = FIGURES["instability"]
    plain = kind.figure(TABLES.cells)
    with mpl.rc_context({"font.size": 20, "axes.labelsize": 30, "axes.facecolor": "red"}):
        themed = kind.figure(TABLES.cells)
    assert [t.get_fontsize() for t in plain.findobj(Text)] == [t.get_fontsize() for t in themed.findobj(Text)]
    assert plain.axes[0].get_facecolor() == themed.axes[0].get_facecolor()
