"""The parts of the sampler that need no server: plan, waits, breaker, preparation, progress."""

from __future__ import annotations

import asyncio
import io
import json
import sys
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.endpoints import PassingFailure
from dsqa.errors import BankError, StudyError
from dsqa.records import Record, RecordStore, RunIndex
from dsqa.sampling import SamplingState, count_outside_design, prepare_study, progress, terminal_progress
from dsqa.sampling.breaker import Breaker
from dsqa.sampling.pacing import LONGEST_BACKOFF, Pacer, backoff_seconds
from dsqa.sampling.plan import CellRequest, count_recorded, plan_runs
from tests.sampling.studies import prepare, study_config, write_bank


def cells(count: int) -> list[CellRequest]:
    return [CellRequest(f"q{k}", "c", "0" * 16, "default", {}, {}) for k in range(count)]


@given(
    count=st.integers(1, 6),
    runs=st.integers(1, 12),
    seed=st.integers(-(2**40), 2**70),
    done=st.sets(st.tuples(st.integers(0, 5), st.integers(0, 11))),
    limit=st.none() | st.integers(0, 80),
)
def test_plan_is_the_missing_runs_once_each_in_balanced_order(count, runs, seed, done, limit):
    design, recorded = cells(count), RunIndex()
    for cell, run in done:
        if cell < count and run < runs:
            recorded.add(design[cell].key(run), "answered")
    plan = list(plan_runs(design, runs, seed, recorded, limit))
    keys = [planned.key for planned in plan]
    missing = {c.key(r) for c in design for r in range(runs)} - set(recorded.keys())
    assert len(keys) == len(set(keys)) == min(len(missing), len(missing) if limit is None else limit)
    assert set(keys) <= missing
    assert [k.run for k in keys] == sorted(k.run for k in keys)
    assert keys == [p.key for p in plan_runs(design, runs, seed, recorded, limit)]
    assert count_recorded(design, runs, recorded) == len(recorded)


def test_every_position_in_a_block_falls_to_every_cell_alike():
    design, runs = cells(5), 2000
    order = [p.cell.question_id for p in plan_runs(design, runs, 7, RunIndex())]
    first = Counter(order[::5])
    # Binomial(2000, 1/5): 400 ± 5 SD of 17.9.
    assert all(abs(n - 400) < 90 for n in first.values())


def test_more_runs_do_not_change_the_order_of_the_first():
    design = cells(4)
    short = [p.key for p in plan_runs(design, 5, 3, RunIndex())]
    assert [p.key for p in plan_runs(design, 50, 3, RunIndex())][: len(short)] == short


@given(attempt=st.integers(0, 100), retry_after=st.none() | st.floats(0, 300), seed=st.integers(0, 99))
def test_backoff_is_jitter_on_top_of_what_the_endpoint_asks_for(attempt, retry_after, seed):
    seconds = backoff_seconds(attempt, retry_after, np.random.default_rng(seed))
    asked = retry_after or 0
    assert asked <= seconds <= asked + min(LONGEST_BACKOFF, 2.0 ** min(attempt, 30))


def test_backoff_doubles_on_average():
    rng = np.random.default_rng(5)
    means = [np.mean([backoff_seconds(k, None, rng) for _ in range(4000)]) for k in range(7)]
    assert means == pytest.approx([0.5, 1, 2, 4, 8, 16, 30], rel=0.05)


def test_pacer_holds_back_until_the_pause_is_over_or_sampling_stops():
    async def main():
        pacer, stop = Pacer(), asyncio.Event()
        begun = time.monotonic()
        await pacer.turn(stop)
        free = time.monotonic() - begun
        pacer.pause(0.2)
        pacer.pause(0.01)
        await pacer.turn(stop)
        paused = time.monotonic() - begun
        pacer.pause(60)
        asyncio.get_running_loop().call_later(0.05, stop.set)
        await pacer.turn(stop)
        return free, paused, time.monotonic() - begun

    free, paused, stopped = asyncio.run(main())
    assert free < 0.1
    assert 0.2 <= paused < 5
    assert stopped < 10


def record(run: int) -> Record:
    return Record("q", "c", run, "0" * 16, {}, {}, "failed")


BOOM = PassingFailure("server error", "boom", status=500)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_breaker_holds_failures_until_a_request_sent_after_them_is_answered():
    clock = Clock()
    breaker = Breaker(proven=True, clock=clock)
    for run in range(29):
        clock.now = float(run)
        breaker.exhausted(record(run), BOOM, in_flight=4)
    assert breaker.down is None
    assert breaker.answered(sent_at=-0.5) == [], "on its way while the others failed: it proves nothing"
    assert [r.run for r in breaker.answered(sent_at=3.5)] == [0, 1, 2, 3]
    assert [r.run for r in breaker.rest()] == list(range(4, 29))
    assert [r.run for r in breaker.answered(sent_at=100.0)] == list(range(4, 29))
    for run in range(30):
        breaker.exhausted(record(run), PassingFailure("timeout", "slow"), in_flight=4)
    assert "30 runs in a row" in breaker.down


def test_breaker_waits_for_as_many_as_an_outage_fails_at_once():
    breaker = Breaker(proven=True)
    for run in range(127):
        breaker.exhausted(record(run), BOOM, in_flight=64)
    assert breaker.down is None
    breaker.exhausted(record(127), BOOM, in_flight=64)
    assert "128 runs in a row" in breaker.down


def test_breaker_gives_up_soon_where_nothing_was_ever_answered():
    breaker = Breaker(proven=False)
    for run in range(3):
        assert breaker.down is None
        breaker.exhausted(record(run), BOOM, in_flight=64)
    assert "3 runs and to none before" in breaker.down


def test_breaker_gives_up_at_once_when_no_connection_can_be_made():
    breaker = Breaker(proven=True)
    breaker.exhausted(record(0), PassingFailure("connection", "refused"), in_flight=4)
    assert "cannot be reached any more: refused" in breaker.down


def test_bodies_without_sense_are_given_up_quickly_unless_something_was_answered():
    senseless = PassingFailure("malformed body", "the body is not JSON", status=200)
    fresh, proven, mixed = Breaker(proven=False), Breaker(proven=True), Breaker(proven=False)
    for _ in range(4):
        assert fresh.down is None
        fresh.failed(senseless)
        proven.failed(senseless)
        mixed.failed(senseless)
        mixed.failed(PassingFailure("malformed body", "the body has no choices", status=200))
    assert "the body is not JSON, 4 times and never anything else" in fresh.down
    assert proven.down is None
    assert mixed.down is None


def test_prepared_study_holds_everything_needed_to_go_on(tmp_path):
    folder = prepare(tmp_path, "http://127.0.0.1:1/v1")
    description = folder.describe()
    assert (description.name, description.runs, len(description.conditions)) == ("small", 4, 2)
    assert len({(c.question_id, c.condition_id) for c in description.cells}) == 6
    assert len(folder.bank()) == 3
    assert "{{" in description.template["text"]
    assert description.settings["request"] == {"max_tokens": 50}
    before = folder.description_path.read_bytes()
    prepare(tmp_path, "http://127.0.0.1:1/v1")
    assert folder.description_path.read_bytes() == before, "the same settings give the same file"


def test_data_files_are_copied_and_shown(tmp_path):
    path = write_bank(tmp_path, 1)
    row = json.loads(path.read_text())
    path.write_text(json.dumps({**row, "file_name": "cars.csv"}) + "\n")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "cars.csv").write_text("mpg,cyl\n21.0,6\n22.8,4\n")
    config = study_config("http://127.0.0.1:1/v1", data="tables")
    folder = prepare_study(config, tmp_path / "study.yaml", tmp_path / "runs" / "small")
    assert (folder.bank_dir / "data" / "cars.csv").read_text().startswith("mpg,cyl")
    (tmp_path / "tables" / "cars.csv").unlink()
    with pytest.raises(BankError, match=r"cars\.csv"):
        prepare_study(config, tmp_path / "study.yaml", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def fill(folder) -> None:
    design = folder.describe()
    with RecordStore.open(folder.records_path) as store:
        for cell in design.cells:
            for run in range(design.runs):
                store.append(
                    Record(cell.question_id, cell.condition_id, run, cell.prompt_hash, {}, {}, "answered", text="x")
                )


def test_a_changed_prompt_leaves_recorded_runs_outside_the_design_and_says_so(tmp_path, caplog):
    url = "http://127.0.0.1:1/v1"
    folder = prepare(tmp_path, url)
    fill(folder)
    prepare(tmp_path, url, runs=9, temperatures=[0.2, 1.0, 1.2])
    assert count_outside_design(folder) == 0
    assert caplog.text == ""
    prepare(tmp_path, url, runs=3)
    assert count_outside_design(folder) == 6
    prepare(tmp_path, url, prompt={"system": "Be brief."})
    assert count_outside_design(folder) == 24
    assert "24 recorded runs do not belong" in caplog.text


def test_one_condition_twice_is_refused(tmp_path):
    with pytest.raises(StudyError, match="twice"):
        prepare(tmp_path, "http://127.0.0.1:1/v1", temperatures=[1.0, 1])


def test_builtin_bank_and_paths_beside_the_study_file(tmp_path):
    config = study_config("http://127.0.0.1:1/v1", bank="builtin")
    weights = {"default": {"kind": "embedded", "weights": "own.gguf"}}
    config = study_config("unused", bank="builtin", endpoints=weights)
    folder = prepare_study(config, tmp_path / "study.yaml", tmp_path / "runs" / "small")
    assert len(folder.bank()) >= 12
    assert folder.describe().settings["endpoints"]["default"]["weights"] == str(tmp_path / "own.gguf")


def test_progress_without_a_terminal_is_a_plain_line_now_and_then(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with terminal_progress("sampling") as shown:
        for done in range(101):
            shown.update(SamplingState(done, 200, 100, done, 2, 3, 50 * done, 10.0))
    assert written.getvalue() == "sampling: 100/200 runs, 2 failed, 500 tokens/s, 3 retried\n"
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.0)
    with terminal_progress("sampling") as shown:
        shown.update(SamplingState(50, 200, 200, 50, 0, 0, 500, 10.0))
    assert "sampling: 50/200 runs, 0:30 left, 50 tokens/s\n" in written.getvalue()


def test_progress_on_a_terminal_is_a_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    written = Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    with terminal_progress("sampling") as shown:
        shown.update(SamplingState(10, 100, 100, 0, 0, 0, 0, 0.0))
        shown.update(SamplingState(55, 100, 100, 45, 1, 2, 900, 9.0))
    last = written.getvalue().split("\r")[-1]
    assert "55/100 runs" in last
    assert "100 tokens/s" in last
    assert "0:09 left" in last
    assert "1 failed" in last
