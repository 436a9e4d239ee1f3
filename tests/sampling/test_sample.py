from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from dsqa.endpoints.embedded import find_weights
from dsqa.errors import EndpointError, RecordError, StudyLockedError
from dsqa.execution.launch import find_bubblewrap
from dsqa.records import RecordStore, read_records
from dsqa.sampling import breaker, read_sessions, sample_study, terminal_progress
from dsqa.study.folder import StudyFolder
from tests.sampling.conftest import KEY
from tests.sampling.launcher import Launcher
from tests.sampling.studies import prepare
from tests.support.server import Fault, FaultServer, completion, error

pytestmark = pytest.mark.usefixtures("quick_backoff")


def runs_of(folder: StudyFolder) -> list:
    return list(read_records(folder.records_path))


@pytest.fixture(scope="module")
def launcher():
    with Launcher() as started:
        yield started


class Follower:
    def __init__(self):
        self.states = []

    def update(self, state):
        self.states.append(state)


def test_every_run_of_every_cell_is_asked_once_and_recorded_as_sent(tmp_path):
    with FaultServer(latency=0.01) as server:
        folder = prepare(tmp_path, server.url)
        follower = Follower()
        summary = sample_study(folder, progress=follower)
    records = runs_of(folder)
    assert len(records) == len(server.seen) == 3 * 2 * 4
    assert {r.key.run for r in records} == {0, 1, 2, 3}
    assert Counter((r.question_id, r.condition_id) for r in records) == {
        (f"q{q}", c): 4 for q in (1, 2, 3) for c in {r.condition_id for r in records}
    }
    by_id = {f"chatcmpl-{s.number}": s for s in server.seen}
    for record in records:
        assert record.request == by_id[record.response_id].body
        assert record.request["max_tokens"] == 50
        assert record.request["temperature"] == record.condition["temperature"]
        assert record.condition["base_url"] == server.url
        assert record.status == "answered"
        assert record.seconds >= 0.01
        assert record.versions["dsqa"]
        assert record.versions["openai"]
        assert record.started_at.endswith("+00:00")
    assert (summary.new, summary.failed, summary.recorded, summary.total) == (24, 0, 24, 24)
    assert summary.tokens == 24 * 5
    assert not summary.interrupted
    assert server.most_in_flight <= 4
    assert follower.states[0].done == 0
    last = follower.states[-1]
    assert (last.done, last.total, last.eta_seconds) == (24, 24, 0)
    # A second time, nothing is sent.
    with FaultServer() as idle:
        assert sample_study(folder).new == 0
        assert idle.seen == []


def test_concurrency_is_used_and_never_exceeded(tmp_path):
    with FaultServer(latency=0.05) as server:
        folder = prepare(tmp_path, server.url, runs=10, sampling={"concurrency": 7, "timeout": 5})
        sample_study(folder)
    assert server.most_in_flight == 7


def test_a_partial_study_is_balanced_and_its_order_seeded(tmp_path):
    def order(name, seed):
        (tmp_path / name).mkdir()
        with FaultServer() as server:
            one = {"concurrency": 1, "timeout": 5}
            folder = prepare(tmp_path / name, server.url, runs=20, seed=seed, sampling=one)
            summary = sample_study(folder, limit=45)
        assert (summary.new, summary.recorded, summary.total) == (45, 45, 120)
        return [(r.question_id, r.condition["temperature"], r.run) for r in runs_of(folder)]

    first, again, other = order("a", 1), order("b", 1), order("c", 2)
    assert first == again
    assert first != other
    counts = Counter((q, t) for q, t, _ in first)
    assert set(counts.values()) == {7, 8}
    assert [run for _, _, run in first] == sorted(run for _, _, run in first)
    blocks = [tuple(row[:2] for row in first[k : k + 6]) for k in range(0, 42, 6)]
    assert len(set(blocks)) > 1, "each block is shuffled anew"


def test_limit_and_more_runs_extend_the_same_study(tmp_path):
    with FaultServer() as server:
        folder = prepare(tmp_path, server.url)
        assert sample_study(folder, limit=5).new == 5
        assert sample_study(folder, limit=3).recorded == 8
        folder = prepare(tmp_path, server.url, runs=6, temperatures=[0.2, 1.0, None], models=["m", "other"])
        summary = sample_study(folder)
    assert summary.total == 3 * 3 * 2 * 6
    assert summary.new == summary.total - 8
    assert len({r.key for r in runs_of(folder)}) == summary.total
    assert "temperature" not in next(r for r in runs_of(folder) if r.condition["temperature"] is None).request


def test_extended_in_every_direction_it_never_asks_again_and_stays_balanced(tmp_path):
    steps = [
        {"questions": 2, "runs": 3, "models": ["m"], "temperatures": [0.2]},
        {"questions": 4, "runs": 3, "models": ["m"], "temperatures": [0.2]},
        {"questions": 4, "runs": 3, "models": ["m", "other"], "temperatures": [0.2, None]},
        {"questions": 4, "runs": 6, "models": ["m", "other"], "temperatures": [0.2, None]},
    ]
    with FaultServer() as server:
        before: set = set()
        for step in steps:
            folder = prepare(tmp_path, server.url, **step, sampling={"concurrency": 1, "timeout": 5})
            total = step["questions"] * step["runs"] * len(step["models"]) * len(step["temperatures"])
            assert sample_study(folder, limit=(total - len(before)) // 2).new == (total - len(before)) // 2
            new = Counter((r.question_id, r.condition_id) for r in runs_of(folder) if r.key not in before)
            assert max(new.values()) - min(new.values()) <= 1, "stopped half-way, no cell is ahead"
            assert sample_study(folder).recorded == total
            assert before <= {r.key for r in runs_of(folder)}
            before = {r.key for r in runs_of(folder)}
            assert len(server.seen) == len(before) == total


def test_passing_failures_are_tried_again_and_are_no_runs(tmp_path):
    faults = [
        error(429),
        Fault("drop"),
        Fault("disconnect"),
        Fault(body="{half"),
        error(503, headers={"Retry-After": "0"}),
    ]
    lock = threading.Lock()

    def script(seen):
        with lock:
            return faults.pop() if faults else None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": 4, "timeout": 5, "retries": 6})
        summary = sample_study(folder)
    records = runs_of(folder)
    assert len(records) == 24
    assert {r.status for r in records} == {"answered"}
    assert summary.retried == sum(r.retries for r in records) == 5
    assert len(server.seen) == 29


def test_retry_after_holds_the_whole_endpoint_back(tmp_path):
    refused = []

    def script(seen):
        if not refused:
            refused.append(seen.at)
            return error(429, headers={"Retry-After": "1"})
        return None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": 1, "timeout": 5})
        sample_study(folder)
    assert server.seen[1].at - refused[0] >= 1.0


def test_a_run_that_outlives_its_retries_is_recorded_as_failed_and_not_asked_again(tmp_path):
    def script(seen):
        return error(500, "boom") if "2 plus 2" in seen.prompt else None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url)
        summary = sample_study(folder)
        failed = [r for r in runs_of(folder) if r.status == "failed"]
        assert (summary.failed, summary.recorded) == (8, 24)
        assert {r.question_id for r in failed} == {"q2"}
        assert {(r.error["class"], r.error["status"], r.retries) for r in failed} == {("server error", 500, 2)}
        assert len(server.seen) == 16 + 8 * 3
        assert sample_study(folder).new == 0


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), "DSQA_TEST_KEY"),
        (error(404, "The model `m` does not exist", "model_not_found"), "it has: m, other"),
        (error(402, "pay"), "no credit"),
        (error(400, "stop must be a list"), "stop must be a list"),
    ],
)
def test_what_is_wrong_for_good_stops_the_study_at_once_with_nothing_recorded(tmp_path, answer, says):
    with FaultServer(lambda _: answer) as server:
        folder = prepare(tmp_path, server.url)
        with pytest.raises(EndpointError) as caught:
            sample_study(folder)
    assert says in str(caught.value)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert runs_of(folder) == []
    assert len(server.seen) <= 4


def test_a_missing_key_and_an_unreachable_endpoint_stop_before_anything_is_recorded(tmp_path, monkeypatch):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        folder = prepare(tmp_path, f"http://127.0.0.1:{held.getsockname()[1]}/v1")
        begun = time.monotonic()
        with pytest.raises(EndpointError, match="cannot be reached"):
            sample_study(folder)
        assert time.monotonic() - begun < 5
    monkeypatch.delenv("DSQA_TEST_KEY")
    folder = prepare(tmp_path, "https://endpoint.invalid/v1")
    with pytest.raises(EndpointError, match="DSQA_TEST_KEY is not set"):
        sample_study(folder)
    assert runs_of(folder) == []


def test_an_outage_is_not_counted_against_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr(breaker, "LONGEST_STREAK", 8)

    def script(seen):
        return error(503) if seen.number > 10 else None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, runs=10)
        with pytest.raises(EndpointError, match="no answer to 8 runs in a row") as caught:
            sample_study(folder)
        assert "run the same command" in caught.value.hint
        assert [r.status for r in runs_of(folder)] == ["answered"] * 10
        server.script = None
        summary = sample_study(folder)
    assert summary.recorded == summary.total == 60
    assert {r.status for r in runs_of(folder)} == {"answered"}


def test_an_endpoint_that_goes_away_stops_the_study(tmp_path):
    enough = threading.Event()

    def script(seen):
        if seen.number == 20:
            enough.set()

    server = FaultServer(script, latency=0.05)
    with server:
        folder = prepare(tmp_path, server.url, runs=100, sampling={"concurrency": 4, "timeout": 5, "retries": 2})
        threading.Thread(target=lambda: enough.wait(60) and server.close()).start()
        with pytest.raises(EndpointError, match="cannot be reached any more"):
            sample_study(folder)
        records = runs_of(folder)
        assert records
        assert {r.status for r in records} == {"answered"}


def test_refusals_filters_and_parameters_are_the_runs_own(tmp_path):
    def script(seen):
        if "1 plus 1" in seen.prompt:
            return error(400, "policy", "content_filter")
        if "2 plus 2" in seen.prompt:
            return error(400, "maximum context length exceeded", "context_length_exceeded")
        if "3 plus 3" in seen.prompt:
            return completion(seen.number, "m", None, refusal="no")
        return completion(seen.number, "m", None, finish_reason="length" if seen.number % 2 else "stop")

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, questions=4)
        summary = sample_study(folder)
    by_question = {r.question_id: (r.status, (r.error or {}).get("class")) for r in runs_of(folder)}
    # Cut before it wrote anything is cut, whatever it had thought; an answer without a word is empty.
    assert {(r.finish_reason, r.status) for r in runs_of(folder) if r.question_id == "q4"} == {
        ("length", "truncated"),
        ("stop", "empty"),
    }
    del by_question["q4"]
    assert by_question == {
        "q1": ("filtered", "content filter"),
        "q2": ("failed", "too long"),
        "q3": ("refused", None),
    }
    assert summary.retried == 0
    assert len(server.seen) == 32


def test_a_bad_request_after_good_ones_is_that_runs_own(tmp_path):
    def script(seen):
        return error(400, "odd") if seen.number == 20 else None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": 1, "timeout": 5})
        assert sample_study(folder).failed == 1


def test_two_endpoints_each_have_their_own_limit(tmp_path):
    with FaultServer(latency=0.03) as one, FaultServer(latency=0.03) as two:
        folder = prepare(
            tmp_path,
            one.url,
            models=["m", {"name": "n", "endpoint": "second"}],
            endpoints={"default": {"base_url": one.url}, "second": {"base_url": two.url}},
            sampling={"concurrency": 3, "timeout": 5},
        )
        assert sample_study(folder, limit=20).new == 20
        assert sample_study(folder).recorded == 48
    assert one.most_in_flight <= 3
    assert two.most_in_flight <= 3
    assert len(one.seen) == len(two.seen) == 24
    assert {s.body["model"] for s in two.seen} == {"n"}


def test_key_is_in_nothing_that_is_written(tmp_path, capfd):
    def script(seen):
        if seen.number % 3 == 0:
            return error(500, f"you sent {seen.headers['Authorization']}")
        return completion(seen.number, "m", f"echo {seen.headers['Authorization']}")

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url)
        with terminal_progress() as progress:
            sample_study(folder, progress=progress)
    secret = KEY.encode()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert folder.records_path in files
    assert all(secret not in path.read_bytes() for path in files)
    out, err = capfd.readouterr()
    assert KEY not in out + err
    assert "24/24 runs" in err


def test_full_disk_stops_with_one_line_and_whole_records(tmp_path, launcher):
    with FaultServer() as server:
        folder = prepare(tmp_path, server.url, runs=20)
        # write() beyond this size fails as on a full disk, half-way through a line.
        launcher.start(folder.root, file_size=9000)
        result = launcher.result()
        assert result["said"].startswith("RecordError")
        assert "the disk is full" in result["said"]
        assert "\n" not in result["said"]
        kept = len(runs_of(folder))
        assert kept >= 3
        assert folder.records_path.read_bytes().endswith(b"\n")
        assert sample_study(folder).recorded == 120
    assert len({r.response_id for r in runs_of(folder)}) == 120


def test_a_second_process_is_told(tmp_path):
    with FaultServer() as server:
        folder = prepare(tmp_path, server.url)
        with RecordStore.open(folder.records_path):
            with pytest.raises(StudyLockedError, match=f"pid {os.getpid()}"):
                sample_study(folder)
            with pytest.raises(StudyLockedError):
                prepare(tmp_path, server.url)
        assert server.seen == []


def test_a_damaged_line_is_named_before_anything_is_sent(tmp_path):
    with FaultServer() as server:
        folder = prepare(tmp_path, server.url)
        sample_study(folder, limit=3)
        lines = folder.records_path.read_bytes().splitlines(keepends=True)
        folder.records_path.write_bytes(lines[0] + b"{oops\n" + lines[2])
        sent = len(server.seen)
        with pytest.raises(RecordError) as caught:
            sample_study(folder)
        assert caught.value.line == 2
        assert len(server.seen) == sent


def test_killed_at_random_moments_nothing_is_lost_and_nothing_recorded_twice(tmp_path, launcher):
    kills, runs, chance = 26, 120, random.Random(20261130)
    # Long answers make writes that a kill can tear.
    with FaultServer(lambda seen: completion(seen.number, "m", "x" * 10_000), latency=0.005) as server:
        folder = prepare(tmp_path, server.url, runs=runs, sampling={"concurrency": 8, "timeout": 5})
        survived = 0
        for _ in range(kills):
            sampler = launcher.start(folder.root)
            target = len(server.seen) + chance.randint(1, 25)
            deadline = time.monotonic() + 20
            while len(server.seen) < target and time.monotonic() < deadline:
                time.sleep(0.0005)
            time.sleep(chance.random() * 0.01)
            os.kill(sampler, signal.SIGKILL)
            assert launcher.result()["status"] == -signal.SIGKILL
            now = folder.records_path.read_bytes().count(b"\n")
            assert now >= survived, "what was recorded stays"
            survived = now
        launcher.start(folder.root)
        result = launcher.result()
    total = 6 * runs
    assert result["status"] == 0
    assert result["said"]["recorded"] == total
    assert 0 < survived < total
    records = runs_of(folder)
    lines = folder.records_path.read_bytes().splitlines()
    assert len(lines) == len(records) == total, "no key is on two lines"
    assert set(Counter((r.question_id, r.condition_id) for r in records).values()) == {runs}
    assert len({r.response_id for r in records}) == total, "every record is an answer of its own"
    # Whatever was asked twice was in flight when a kill came: at most `concurrency` requests each time.
    assert total <= len(server.seen) <= total + kills * 8
    sessions = read_sessions(folder.root)
    assert [s.how for s in sessions] == ["killed"] * (len(sessions) - 1) + ["complete"]
    assert [s.session for s in sessions] == list(range(1, len(sessions) + 1))
    # A kill before anything was sent leaves no session.
    assert kills // 2 < len(sessions) <= kills + 1
    assert sum(s.tally.runs for s in sessions) == total, "each run is in the account of the session that asked it"
    assert sum(s.tally.tokens_out for s in sessions) == sum(r.usage["completion_tokens"] for r in records)
    assert abs(sum(s.requests for s in sessions) - len(server.seen)) <= kills * 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_within_two_seconds_and_keeps_what_comes(tmp_path, launcher, number):
    def script(seen):
        # Every fourth request takes longer than anyone waits.
        return Fault("hang", delay=30) if seen.number % 4 == 0 else None

    with FaultServer(script, latency=0.2) as server:
        folder = prepare(tmp_path, server.url, runs=50, sampling={"concurrency": 4, "timeout": 60})
        sampler = launcher.start(folder.root)
        while len(server.seen) < 6:
            time.sleep(0.01)
        begun = time.monotonic()
        os.kill(sampler, number)
        result = launcher.result()
        took = time.monotonic() - begun
        sent = len(server.seen)
    assert took < 4
    assert result["status"] == 0
    assert result["said"]["interrupted"] is True
    assert result["said"]["new"] == len(runs_of(folder)) > 0
    assert sent < 12, "nothing is sent after the signal"


def test_from_inside_a_running_loop_as_in_a_notebook(tmp_path):
    import asyncio

    async def cell(folder):
        return sample_study(folder)

    with FaultServer() as server:
        folder = prepare(tmp_path, server.url)
        assert asyncio.run(cell(folder)).new == 24
        assert len(server.seen) == 24


def test_study_json_that_no_longer_fits_is_refused(tmp_path):
    from dsqa.errors import StudyError

    with FaultServer() as server:
        folder = prepare(tmp_path, server.url)
        text = json.loads(folder.description_path.read_text())
        text["template"]["text"] += " changed"
        folder.description_path.write_text(json.dumps(text))
        with pytest.raises(StudyError, match="other prompts"):
            sample_study(folder)
        assert server.seen == []


def test_the_embedded_model_is_an_endpoint_like_any_other(tmp_path):
    pytest.importorskip("xllamacpp")
    if find_weights() is None:
        pytest.skip("no weights here; 'dsqa doctor --get-model' fetches them")
    folder = prepare(
        tmp_path,
        "unused",
        questions=1,
        runs=2,
        models=["SmolLM2-135M-Instruct"],
        endpoints={"default": {"kind": "embedded", "slots": 2, "context": 512, "threads": 1}},
        request={"max_tokens": 5},
        sampling={"concurrency": 8, "timeout": 120},
    )
    summary = sample_study(folder)
    records = runs_of(folder)
    assert summary.new == len(records) == 4
    assert {r.status for r in records} <= {"truncated", "answered", "empty"}
    for record in records:
        assert record.usage["completion_tokens"] <= 5
        assert record.versions["weights"].endswith(".gguf")
        assert len(record.versions["weights_sha256"]) == 64
        assert record.response_model == Path(record.versions["weights"]).stem
        assert record.condition["base_url"] == "embedded"


INSIDE = """
import json, sys
from pathlib import Path
from dsqa.errors import DsqaError
from dsqa.records import read_records
from dsqa.sampling import read_sessions, sample_study
from tests.sampling.studies import prepare

root, url = Path(sys.argv[1]), sys.argv[2]
folder = prepare(root, url, runs=40)
filler = root / "filler"
filler.write_bytes(bytes(700_000))
try:
    sample_study(folder)
    said = None
except DsqaError as error:
    said = str(error)
kept = len(list(read_records(folder.records_path)))
filler.unlink()
summary = sample_study(folder)
runs = [(r.question_id, r.condition_id, r.run, r.response_id) for r in read_records(folder.records_path)]
hows = [s.how for s in read_sessions(folder.root)]
print(json.dumps({"said": said, "kept": kept, "recorded": summary.recorded, "runs": runs, "hows": hows}))
"""


def test_a_disk_that_is_really_full_loses_nothing(tmp_path):
    """On a file system of 1 MB; made by bubblewrap, so that no root is needed."""
    programs = find_bubblewrap()
    if not programs:
        pytest.skip("no bubblewrap here")
    place = tmp_path / "disk"
    place.mkdir()
    disk = ["--dev-bind", "/", "/", "--size", str(2**20), "--tmpfs", str(place)]
    command = [programs[-1], *disk, sys.executable, "-c", INSIDE]
    with FaultServer(lambda seen: completion(seen.number, "m", "x" * 3000)) as server:
        done = subprocess.run([*command, str(place), server.url], capture_output=True, text=True, check=False)
        sent = len(server.seen)
    if "bwrap" in done.stderr and "ermi" in done.stderr:
        pytest.skip("this machine lets no user make a file system of their own")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert "the disk is full" in result["said"]
    assert 0 < result["kept"] < 240
    assert result["recorded"] == 240
    assert len({tuple(run[:3]) for run in result["runs"]}) == len({run[3] for run in result["runs"]}) == 240
    assert sent <= 240 + 4, "only what had nowhere to go is asked again"
    assert result["hows"][-1] == "complete"
