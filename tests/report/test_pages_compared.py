"""The pages models, reliability, judges and drift: every cell of each notebook on small and strange studies."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest

from dsqa import report
from dsqa.errors import RecordError
from dsqa.outcomes.columns import COLUMNS
from dsqa.report.execute import execute_notebook
from dsqa.report.locate import notebook_path
from dsqa.study import StudyFolder
from tests.report.study import make_study

PAGES = ("models", "reliability", "judges", "drift")
# As small as they may be: what is tested is that each page ends well, and what it says.
FEW: dict[str, dict[str, Any]] = {
    "models": {"resamples": 99, "measures": ["accuracy"]},
    "reliability": {"resamples": 99, "simulations": 100, "plan_runs": [2, 5], "verdict_runs": [5], "min_runs": 2},
    "judges": {"resamples": 49},
    "drift": {},
}


def page_text(name: str, study: StudyFolder, **parameters: Any) -> str:
    """Run a notebook's cells in this process, and return what they show."""
    scope: dict[str, Any] = {}
    shown = []
    for cell in nbformat.read(notebook_path(name), 4).cells:
        if cell.cell_type != "code":
            continue
        tree = ast.parse(cell.source)
        last = tree.body[-1]
        if "parameters" in cell.metadata.get("tags", []):
            exec(compile(tree, name, "exec"), scope)
            given = FEW[name] | parameters
            assert set(given) <= set(scope), "a parameter that the notebook lacks"
            scope |= given | {"study": str(study.root)}
            continue
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(tree.body[:-1], []), name, "exec"), scope)
            result = eval(compile(ast.Expression(last.value), name, "eval"), scope)
            shown.append("" if result is None else str(result._repr_markdown_()))
        else:
            exec(compile(tree, name, "exec"), scope)
    return "\n\n".join(shown).replace("\u00a0", " ").replace("\\", "")


def changed(folder: StudyFolder, change: Callable[[pd.DataFrame], pd.DataFrame]) -> StudyFolder:
    table = change(pd.read_parquet(folder.outcomes_path))
    table.astype({c.name: c.dtype for c in COLUMNS}).to_parquet(folder.outcomes_path)
    return folder


def all_failed(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(
        status="failed", completion=0, accuracy=0, executability=0, score=0.0, answer=None, answer_key=None,
        answer_status="unparsed", isolation=None, execution="no code", words_out=None, jaccard_mean=None,
    )  # fmt: skip


def all_equal(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(status="answered", completion=1, accuracy=1, executability=2, score=3.0, answer_key="x=42")


def no_truths(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(accuracy=None, score=None, answer_status=None)


def unbalanced(table: pd.DataFrame) -> pd.DataFrame:
    """Question 1 has no run at all under one model, the others lose some runs."""
    gone = (table["question_id"] == "q01") & (table["model"] == "model-b")
    return table[~gone & ~((table["question_id"] == "q03") & (table["run"] > 1))].reset_index(drop=True)


def _one_of_all(root: Path) -> StudyFolder:
    return make_study(root, questions=1, temperatures=(0.2,), runs=1)


def _small(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], StudyFolder]:
    return lambda root: changed(make_study(root, questions=4, models=("model-a", "model-b"), runs=3), change)


EDGES: dict[str, Callable[[Path], StudyFolder]] = {
    "one run of one question": _one_of_all,
    "all runs failed": _small(all_failed),
    "all scores equal": _small(all_equal),
    "no ground truths": _small(no_truths),
    "unbalanced cells": _small(unbalanced),
}


@pytest.fixture(scope="module", params=EDGES)
def edge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, StudyFolder]:
    return request.param, EDGES[request.param](tmp_path_factory.mktemp("edge") / "s")


SAID = {
    ("models", "one run of one question"): "There is only model 'model-a': a comparison needs at least two.",
    ("models", "all runs failed"): "No run got a reply, so nothing here would be about the model.",
    ("models", "all scores equal"): "every question ties all models",
    ("models", "no ground truths"): "No question has runs under every model",
    ("models", "unbalanced cells"): "2 cells of the full design have no run",
    ("reliability", "one run of one question"): "At least two questions are needed",
    ("reliability", "all runs failed"): "No run got a reply, so nothing here would be about the model.",
    ("reliability", "all scores equal"): "Runs of a question never differ: one run is as reliable as many.",
    ("drift", "one run of one question"): "there is nothing to compare them with",
    ("drift", "all runs failed"): "No run got a reply, so nothing here would be about the model.",
    ("drift", "all scores equal"): "**No change was seen**. Mean accuracy went from 100 % to 100 %",
}


@pytest.mark.parametrize("name", PAGES)
def test_every_page_ends_well_on_every_strange_study(
    name: str, edge: tuple[str, StudyFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Figures have tests of their own, and take most of the time.
    monkeypatch.setattr(report, "place_figure", lambda *_a, **_k: None, raising=False)
    what, folder = edge
    text = page_text(name, folder)
    assert not re.search(r"\bnan\b|NaN|<NA>|\bNone\b|\binf\b|\b1 (runs|questions|cells|conditions|models)\b", text)
    assert SAID.get((name, what), "") in text
    if name == "judges":
        assert "Nobody has marked these runs yet: put a file marks.csv" in text


# Runs right of four, per question: chosen so that what follows can be worked out by hand.
RIGHT = {"model-a": (4, 4, 3, 2), "model-b": (1, 2, 2, 1)}


def by_hand(table: pd.DataFrame) -> pd.DataFrame:
    number = table["question_id"].str[1:].astype(int) - 1
    right = [int(run < RIGHT[model][q]) for run, model, q in zip(table["run"], table["model"], number, strict=True)]
    return table.assign(
        status="answered", completion=1, accuracy=right, executability=[2 * r for r in right],
        score=[1.0 + 2 * r for r in right], answer_key=[f"x={r}" for r in right],
    )  # fmt: skip


MARKS = """question_id;condition_id;run;rater;criterion;mark
q01;{c};0;anna;correct;1
q01;{c};1;anna;correct;yes
q01;{c};2;anna;correct;right
q01;{c};3;anna;correct;1
q02;{c};0;anna;correct;0
q02;{c};1;anna;correct;no
q02;{c};2;anna;correct;wrong
q02;{c};3;anna;correct;0
q01;{c};0;judge;correct;1
q01;{c};1;judge;correct;1
q01;{c};2;judge;correct;1
q01;{c};3;judge;correct;0
q02;{c};0;judge;correct;0
q02;{c};1;judge;correct;0
q02;{c};2;judge;correct;0
q02;{c};3;judge;correct;1
"""


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> StudyFolder:
    """Four questions under two models, four runs each; marks of two raters; an earlier study with no right run."""
    root = tmp_path_factory.mktemp("hand")
    settings: dict[str, Any] = {"questions": 4, "models": ("model-a", "model-b"), "temperatures": (0.2,), "runs": 4}
    changed(
        make_study(root / "before", **settings), lambda t: by_hand(t).assign(accuracy=0, score=1.0, answer_key="x")
    )
    folder = changed(make_study(root / "now", **settings), by_hand)
    condition = folder.describe().conditions[0].id
    folder.marks_path.write_text(MARKS.format(c=condition))
    return folder


HAND = {
    "models": {"resamples": 199},
    "reliability": {"resamples": 99, "simulations": 100, "plan_runs": [2], "verdict_runs": [2], "metric": "accuracy",
                    "stop_verdict": None, "min_runs": 2, "look_every": 1},
    "judges": {"resamples": 49},
    "drift": {"earlier": "before"},
}  # fmt: skip
FOUND = {
    # Differences 3/4, 1/2, 1/4, 1/4 have the mean 7/16, and all the same sign: p = 2/2^4. Means 13/16 and 3/8.
    "models": ["model-a − model-b | +0.44 ", "| 0.125 | 0.125 |", "| model-a | 0.81 ", "| model-b | 0.38 "],
    # MS between 0.6875/3, within 1.75/12: F = 11/7, θ = 1/7, so 1/8 for one run and 4/11 for four; 28 and 63 runs.
    "reliability": ["**model-a**: one run has the reliability 0.12", "the mean of 4 has 0.36", "| 4 | 28 | 63 |"],
    # Six of eight alike, half and half: kappa (0.75 − 0.5)/0.5; alpha 1 − 15 · 4/128.
    "judges": ["Krippendorff's α 0.53", "| anna and judge | 8 | 75 % | 0.50 "],
    # (13/16 + 3/8)/2 = 19/32 are right now, and none was.
    "drift": ["**better**", "from 0 % to 59 %, a change of +0.594 ", "| Accuracy | 0.000 | 0.594 |"],
}


@pytest.mark.parametrize("name", PAGES)
def test_papermill_gives_the_numbers_worked_out_by_hand(name: str, hand: StudyFolder, tmp_path: Path) -> None:
    given = {**HAND[name], "study": str(hand.root)}
    done = execute_notebook(notebook_path(name), tmp_path / "out.ipynb", given, cwd=tmp_path)
    outputs = [output for cell in done.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "stream"]
    text = "\n\n".join(output["data"].get("text/markdown", "") for output in outputs)
    text = re.sub(r"\[(.*?)\]\{\.\w+\}", r"\1", text.replace("\u00a0", " ").replace("\\", ""))
    for sentence in FOUND[name]:
        assert sentence in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q09;{c};0;anna;correct;1", "run 0 of 'q09'"),
        ("q01;{c};zero;anna;correct;1", "'zero' is no number of a run"),
        ("q01;{c};0;;correct;1", "field 'rater': is empty"),
        ("q01;{c};0;anna;correct;1", "twice (the first is on line 2"),
    ],
)
def test_a_mark_that_cannot_be_used_is_named_with_its_line(
    line: str, said: str, hand: StudyFolder, tmp_path: Path
) -> None:
    from dsqa.outcomes import load_outcomes, read_marks

    condition = hand.describe().conditions[0].id
    path = tmp_path / "marks.csv"
    path.write_text(MARKS.format(c=condition) + line.format(c=condition) + "\n")
    with pytest.raises(RecordError, match=re.escape(said)) as caught:
        read_marks(path, load_outcomes(hand.outcomes_path))
    assert caught.value.line == 18


def test_marks_without_a_column_say_which(hand: StudyFolder, tmp_path: Path) -> None:
    from dsqa.outcomes import load_outcomes, read_marks

    path = tmp_path / "marks.csv"
    path.write_text("question_id,run,rater,criterion\n")
    with pytest.raises(RecordError, match="lacks the columns condition_id, mark"):
        read_marks(path, load_outcomes(hand.outcomes_path))


def test_dsqa_is_a_rater_of_the_criteria_it_marks(hand: StudyFolder) -> None:
    kept = hand.marks_path.read_text()
    try:
        hand.marks_path.write_text(kept.replace(";correct;", ";accuracy;"))
        page = report.open_page(hand.root, resamples=99)
        [criterion] = report.marks_of(page).criteria
    finally:
        hand.marks_path.write_text(kept)
    assert criterion.raters == ("anna", "judge", "dsqa")
    # All four runs of both questions are right under model-a.
    assert np.array_equal(criterion.matrix[:, 2], np.ones(8))
