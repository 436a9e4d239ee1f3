"""Asking a part of a study: --only, and runs for each cell in place of N."""

from __future__ import annotations

from collections import Counter

import pytest

from dsqa.errors import StudyError
from dsqa.records import RunIndex, read_records
from dsqa.sampling import Selection, sample_study
from dsqa.sampling.plan import CellRequest, plan_runs
from tests.sampling.studies import prepare
from tests.support.server import FaultServer


def design() -> tuple[CellRequest, ...]:
    return tuple(
        CellRequest(q, f"{m}_{t}", "0" * 16, "default", {"model": m, "temperature": t}, {})
        for q in ("q1", "q2", "q3")
        for m in ("m", "n")
        for t in (0.2, 1.0, None)
    )


def names(cells) -> set[tuple[str, str, float | None]]:
    return {(c.question_id, c.condition["model"], c.condition["temperature"]) for c in cells}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["question=q1,q3", "model=n", "temperature=1"], {("q1", "n", 1.0), ("q3", "n", 1.0)}),
        (["question=q1", "questions=q2", "model=m", "temperature=0.20"], {("q1", "m", 0.2), ("q2", "m", 0.2)}),
        (["temperature=null", "question=q2"], {("q2", "m", None), ("q2", "n", None)}),
        (["condition=m_0.2", "question=q1"], {("q1", "m", 0.2)}),
    ],
)
def test_selection_keeps_what_fits_every_field(texts, expected):
    assert names(Selection.parse(texts).apply(design())) == expected


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["question=q9"], "no question 'q9' (it has: q1, q2, q3)"),
        (["model=m,gpt"], "no model 'gpt' (it has: m, n)"),
        (["temperature=0.3"], "no temperature '0.3' (it has: 0.2, 1, null)"),
        (["temperature=hot"], "no temperature 'hot'"),
        (["colour=red"], "question, model, temperature, condition"),
        (["model="], "restricts nothing"),
        (["model=m", "condition=n_0.2"], "no cell of the study fits"),
    ],
)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(texts, says):
    with pytest.raises(StudyError) as caught:
        Selection.parse(texts).apply(design())
    assert says in f"{caught.value.message} ({caught.value.hint})"


def test_a_part_keeps_the_order_of_the_whole():
    cells = design()
    part = Selection.parse(["model=n"]).apply(cells)
    asked = {cell.id for cell in part}
    whole = [p.key for p in plan_runs(cells, 4, 11, RunIndex()) if p.cell.id in asked]
    assert [p.key for p in plan_runs(cells, 4, 11, RunIndex(), asked=asked)] == whole


def test_only_is_asked_first_and_the_rest_later_without_asking_again(tmp_path):
    with FaultServer() as server:
        folder = prepare(tmp_path, server.url)
        part = sample_study(folder, only=Selection(question=("q2",), temperature=("0.2",)))
        assert (part.new, part.recorded, part.total) == (4, 4, 24)
        assert {(r.question_id, r.condition["temperature"]) for r in read_records(folder.records_path)} == {
            ("q2", 0.2)
        }
        assert sample_study(folder, only=Selection(question=("q2",), temperature=("0.2",))).new == 0
        assert sample_study(folder).recorded == 24
        assert len(server.seen) == 24


def test_targets_give_each_cell_its_own_number_of_runs(tmp_path):
    with FaultServer() as server:
        folder = prepare(tmp_path, server.url)
        cells = [(c.question_id, c.condition_id, c.prompt_hash) for c in folder.describe().cells]
        wanted = {cells[0]: 2, cells[3]: 7, cells[5]: 0}
        summary = sample_study(folder, targets=wanted)
        assert (summary.new, summary.recorded, summary.total) == (9, 9, 9)
        records = list(read_records(folder.records_path))
        assert Counter((r.question_id, r.condition_id, r.prompt_hash) for r in records) == {cells[0]: 2, cells[3]: 7}
        assert {r.run for r in records if r.question_id == cells[3][0]} == set(range(7))
        again = sample_study(folder, targets={**wanted, cells[0]: 3})
        assert (again.new, again.recorded, again.total) == (1, 10, 10)
        with pytest.raises(StudyError, match="a cell that the study does not have"):
            sample_study(folder, targets={("q1", "nobody", "0"): 1})
