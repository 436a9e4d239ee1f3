"""The gallery: what is typical and what is far, by hand; damaged, missing and no pictures; the reference plot."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from dsqa.bank import Bank, Question
from dsqa.execution import Artefact, ExecutionResult, Part
from dsqa.figures import NotApplicableError, StudyTables, draw_figure, render
from dsqa.figures.gallery import gallery_caption, gallery_data, gallery_of
from dsqa.outcomes import ExecutionCache
from dsqa.study import StudyFolder
from tests.figures.cells import cells_of
from tests.support.synthetic import synthetic_outcomes

# Grey levels of the runs' pictures, each all of one shade. Sums of distances, in 1/255: 51 → 2·51 + 102 + 204 = 408;
# 102 → 51 + 0 + 51 + 153 = 255, the least; 153 → 102 + 2·51 + 102 = 306; 255 → 204 + 2·153 + 102 = 612.
SHADES = [51, 102, 102, 153, 255]
WITHOUT = ["no code", "failed", "ran, wrong"]


def png(shade: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (40, 30), shade).save(buffer, "png")
    return buffer.getvalue()


def study(root: Path, shades: list[int], *, reference: int | None = None) -> StudyTables:
    """Write what runs drew; a run per shade, then one for each of `WITHOUT`."""
    outcomes = synthetic_outcomes(questions=1, temperatures=(1.0,), runs=len(shades) + len(WITHOUT))
    keys, kept = [], []
    with ExecutionCache(root / "executions.jsonl") as cache:
        for run, shade in enumerate(shades):
            part = Part.of("png", png(shade))
            made = (Artefact("figure", "figure 1", (part,), {}),)
            result = ExecutionResult(f"k{run}", "ran", "", "", "", None, 0.1, 0.1, "bubblewrap", artefacts=made)
            cache.add(f"k{run}", result)
            keys.append(f"k{run}")
            kept.append(json.dumps({"figure": [part.sha256[:16]]}))
    rest = [None] * len(WITHOUT)
    outcomes = outcomes.assign(
        status="answered", execution=["ran, right"] * len(shades) + WITHOUT,
        execution_key=pd.array([*keys, *rest], dtype="string"), artefacts=pd.array([*kept, *rest], dtype="string"),
        figures=pd.array([1] * len(shades) + [0] * len(WITHOUT), dtype="Int64"),
    )  # fmt: skip
    outcomes.to_parquet(root / "outcomes.parquet")
    item = Question(
        id="q01", question="Draw it.", format="@x[n]", level="easy", common_answers=(("x", "1"),),
        reference_plot="plots/q01.png",
    )  # fmt: skip
    if reference is not None:
        (root / "plots").mkdir()
        (root / "plots/q01.png").write_bytes(png(reference))
    bank = Bank((item,), root, root / "questions.jsonl")
    return StudyTables(outcomes, cells_of(outcomes), bank, StudyFolder(root), 1)


def test_the_medoid_is_typical_and_the_farthest_from_it_is_most_different(tmp_path):
    tables = study(tmp_path, SHADES, reference=0)
    data = gallery_data(gallery_of(tables))
    roles = {row.role: row.run for row in data.itertuples() if isinstance(row.role, str)}
    # The third: 51 and 153 both lie 51 from the nearer of 102 and 255; of equals the first is taken.
    assert roles == {"most typical": 1, "most different": 4, "farthest from both": 0}
    assert data["to_typical"].tolist()[:5] == pytest.approx([0.2, 0, 0, 0.2, 0.6])
    assert data["to_reference"].tolist()[:5] == pytest.approx([0.2, 0.4, 0.4, 0.6, 1.0])
    (drawn,) = draw_figure("gallery", tables)
    assert render(drawn.figure, "svg") == render(next(draw_figure("gallery", tables)).figure, "svg")
    caption = drawn.caption
    assert "5 of 8 runs drew one, 4 of them different" in caption.text
    assert "code ended with an error 1; no code in the response 1; ran, drew nothing 1" in caption.alt


def test_a_damaged_picture_and_a_lost_one_are_counted(tmp_path):
    tables = study(tmp_path, SHADES)
    files = {path.read_bytes(): path for path in tmp_path.glob("artefacts/*/*.png")}
    files[png(255)].write_bytes(png(255)[:40])
    files[png(153)].unlink()
    gallery = gallery_of(tables)
    outcomes = gallery_data(gallery).set_index("run")["outcome"]
    assert (outcomes[4], outcomes[3], outcomes[0]) == ("picture damaged", "picture is not kept", "drew a plot")
    assert "no reference plot beside them (its file is not in the bank's folder)" in gallery_caption(gallery).text


def test_one_plot_is_typical_and_has_no_other(tmp_path):
    (drawn,) = draw_figure("gallery", study(tmp_path, [51]))
    texts = [text.get_text() for axes in drawn.figure.findobj(type(drawn.figure.axes[0])) for text in axes.texts]
    assert texts.count("no other plot") == 2


def test_no_plot_does_not_apply_unless_the_question_is_asked_for(tmp_path):
    tables = study(tmp_path, [])
    with pytest.raises(NotApplicableError, match="no run drew a plot"):
        gallery_of(tables)
    (drawn,) = draw_figure("gallery", tables, question="q01")
    assert "0 of 3 runs drew one" in drawn.caption.text
