"""Files: the same bytes in two processes, what is beside them, what is refused."""

import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from dsqa.errors import ReportError
from dsqa.figures import FIGURES, FORMATS, Caption, StudyTables, draw_figure, render, save_figure, save_figures
from dsqa.figures.instability import instability_figure
from tests.figures.cells import bank_of, cells_of
from tests.support.synthetic import synthetic_outcomes

OUTCOMES = synthetic_outcomes(questions=2, runs=5)
CELLS = cells_of(OUTCOMES)
TABLES = StudyTables(OUTCOMES, CELLS, bank_of(OUTCOMES), seed=1)
LEFT_OUT = {"question-by-model", "gallery"}

SCRIPT = """
import sys
from pathlib import Path
from tests.figures.cells import bank_of, cells_of
from tests.support.synthetic import synthetic_outcomes
from dsqa.figures import StudyTables, save_figures
outcomes = synthetic_outcomes(questions=2, runs=5)
tables = StudyTables(outcomes, cells_of(outcomes), bank_of(outcomes), seed=1)
save_figures(tables, Path(sys.argv[1]), formats=("svg",), runs=(5, 20), simulations=100)
save_figures(tables, Path(sys.argv[1]), only=["instability"])
"""


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    # All as SVG, one in every format: what makes a file is the same for all figures.
    skipped = save_figures(TABLES, folder, formats=("svg",), runs=(5, 20), simulations=100).skipped
    assert set(skipped) == LEFT_OUT
    save_figures(TABLES, folder, only=["instability"])
    return folder


def test_same_data_same_bytes_in_another_process(saved, tmp_path):
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "SOURCE_DATE_EPOCH": "1"}
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], check=True, cwd=root, env=environment)
    assert hashes(tmp_path) == hashes(saved)
    assert len(hashes(saved)) == 3 * (len(FIGURES) - len(LEFT_OUT)) + 2


def test_rendering_does_not_depend_on_what_was_rendered_before():
    first = instability_figure(CELLS)
    render(first, "png")
    render(first, "pdf")
    assert render(first, "svg") == render(instability_figure(CELLS), "svg")


def test_pictures_are_small(saved):
    for path in saved.iterdir():
        assert path.stat().st_size < 200_000, path.name


def test_pictures_carry_no_date_and_no_version(saved):
    for path in saved.glob("*.svg"):
        text = path.read_text()
        assert "dc:date" not in text
        assert "Matplotlib" not in text
    for path in saved.glob("*.pdf"):
        assert b"CreationDate" not in path.read_bytes()
        assert b"atplotlib" not in path.read_bytes()
    for path in saved.glob("*.png"):
        with Image.open(path) as image:
            assert set(image.info) <= {"dpi", "Title", "Description"}


def test_png_is_printed_at_300_dpi_with_a_white_ground(saved):
    with Image.open(saved / "instability.png") as image:
        assert round(image.info["dpi"][0]) == 300
        assert abs(image.width - 183 / 25.4 * 300) < 2
        assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)


def test_svg_text_is_outlines_so_no_font_is_needed(saved):
    text = (saved / "instability.svg").read_text()
    assert "<text" not in text
    assert "font-family" not in text


def test_alt_text_is_in_the_picture(saved):
    caption = FIGURES["question-map"].caption(CELLS)
    assert caption.alt in (saved / "question-map.svg").read_text()


def test_lean_svg_is_the_same_picture(saved):
    # A scale below 1 must survive the rounding of coordinates; 8 pt text has this one.
    assert "scale(0.08 -0.08)" in (saved / "instability.svg").read_text()


def test_data_and_caption_lie_beside_the_picture(tmp_path):
    kind = FIGURES["instability"]
    data, caption = kind.data(CELLS), kind.caption(CELLS)
    paths = save_figure(kind.figure(CELLS), data, caption, tmp_path / "new", "fig1", formats=("svg",))
    assert [path.name for path in paths] == ["fig1.svg", "fig1.csv", "fig1.txt"]
    back = pd.read_csv(paths[1], dtype={"question_id": str})
    assert back["instability"].to_list() == data["instability"].to_list()
    text = paths[2].read_text(encoding="utf-8")
    assert text == f"{caption.title}\n\n{caption.text}\n\nAlt text: {caption.alt}\n"


def test_several_pages_are_several_figures(tmp_path):
    outcomes = synthetic_outcomes(questions=9, runs=2)
    tables = StudyTables(outcomes, cells_of(outcomes))
    paths = save_figures(tables, tmp_path, only=["answers"], formats=("svg",)).paths
    assert sorted(p.name for p in paths if p.suffix == ".svg") == ["answers-1.svg", "answers-2.svg"]
    both = pd.concat([pd.read_csv(tmp_path / f"answers-{i}.csv") for i in (1, 2)])
    assert list(dict.fromkeys(both["question_id"])) == [f"q{i:02d}" for i in range(1, 10)]


def test_grey_copy_keeps_the_three_levels_apart():
    with Image.open(io.BytesIO(render(instability_figure(CELLS), "png"))) as image:
        greys = {shade for count, shade in image.convert("L").getcolors() if count > 150}
    assert len(greys) >= 4


def test_unknown_format_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ReportError, match="cannot be written as 'gif'"):
        save_figure(instability_figure(CELLS), CELLS, Caption("t", "x", "a"), tmp_path, "f", formats=("svg", "gif"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../up", "", "a/b", ".hidden", "a b"])
def test_unsafe_file_name_is_refused(tmp_path, name):
    with pytest.raises(ReportError, match="file name"):
        save_figure(instability_figure(CELLS), CELLS, Caption("t", "x", "a"), tmp_path, name, formats=())


def test_unknown_figure_is_refused(tmp_path):
    with pytest.raises(ReportError, match="no figure 'nope'"):
        save_figures(TABLES, tmp_path, only=["nope"])


def test_a_figure_asked_for_by_name_that_does_not_apply_is_refused_with_the_reason(tmp_path):
    with pytest.raises(ReportError, match="'question-by-model' does not apply: there is one model only"):
        save_figures(TABLES, tmp_path, only=["question-by-model"])


def test_an_option_that_a_figure_lacks_is_refused():
    with pytest.raises(ReportError, match=r"'verbosity-fit' has no option 'question' \(it takes none\)"):
        next(draw_figure("verbosity-fit", TABLES, question="q01"))


def test_a_folder_that_cannot_be_written_gives_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="cannot be written"):
        save_figure(instability_figure(CELLS), CELLS, Caption("t", "x", "a"), tmp_path / "file", "f", formats=())


def test_formats_are_those_that_are_offered():
    assert FORMATS == ("svg", "pdf", "png")
