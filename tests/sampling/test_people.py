"""What a person sees: progress with money, the log, stopping, an endpoint that is none; and no key anywhere."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time

import pytest

from dsqa.errors import EndpointError
from dsqa.records import read_records
from dsqa.sampling import SamplingState, log, read_sessions, sample_study, terminal_progress
from tests.sampling.conftest import KEY
from tests.sampling.studies import prepare, study_config, write_bank
from tests.support.server import Fault, FaultServer, completion, error

pytestmark = pytest.mark.usefixtures("quick_backoff")

HTML = Fault(body="<!doctype html><title>Welcome</title>")


def shown(state: SamplingState, monkeypatch, *, terminal: bool) -> str:
    class Stream(io.StringIO):
        def isatty(self):
            return terminal

    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    with terminal_progress("sampling") as progress:
        progress.update(state)
    return stream.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_says_what_is_spent_what_is_to_come_and_what_is_left(monkeypatch, terminal):
    state = SamplingState(
        done=150,
        total=400,
        goal=200,
        new=100,
        failed=2,
        retried=3,
        tokens_out=5000,
        seconds=50.0,
        money={"USD": 0.75},
        money_new={"USD": 0.5},
        money_left=1.2,
    )
    text = shown(state, monkeypatch, terminal=terminal)
    # 100 runs took 0.50 and 50 s; 50 are to come.
    assert "150/400 runs" in text
    for part in (
        "100 tokens/s",
        "2 failed",
        "3 retried",
        "0.75 USD spent",
        "about 0.25 USD to go",
        "1.20 USD of the budget left",
        "0:25 left",
    ):
        assert part in text


def test_progress_does_not_take_an_unknown_price_for_nought(monkeypatch):
    text = shown(SamplingState(5, 10, 10, 5, 0, 0, 100, 5.0, unpriced=5), monkeypatch, terminal=False)
    assert "cost of 5 requests unknown" in text
    assert "USD" not in text


def test_free_models_are_not_bothered_with_money(monkeypatch):
    state = SamplingState(5, 10, 10, 5, 0, 0, 100, 5.0, money={"USD": 0.0}, money_new={"USD": 0.0})
    assert "USD" not in shown(state, monkeypatch, terminal=False)


@pytest.mark.parametrize("concurrency", ["auto", 1])
def test_what_is_no_endpoint_is_given_up_quickly_with_one_line(tmp_path, concurrency):
    with FaultServer(lambda _: HTML) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": concurrency, "timeout": 60})
        begun = time.monotonic()
        with pytest.raises(EndpointError) as caught:
            sample_study(folder)
        took = time.monotonic() - begun
        assert len(server.seen) <= 8
    assert took < 30
    assert "does not answer as an endpoint does: the body is not JSON" in str(caught.value)
    assert "check base_url" in caught.value.hint
    assert "\n" not in str(caught.value)
    assert list(read_records(folder.records_path)) == []


def test_an_endpoint_that_has_answered_may_stumble(tmp_path):
    with FaultServer(lambda seen: HTML if 5 <= seen.number < 15 else None) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": 2, "timeout": 5, "retries": 9})
        assert sample_study(folder).failed == 0


def test_the_log_tells_what_happened_in_plain_lines(tmp_path):
    def script(seen):
        return error(503, "busy") if seen.number == 2 else None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": 1, "timeout": 5})
        sample_study(folder, limit=3)
    lines = (folder.root / "logs" / "sampling.log").read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (INFO|WARNING|ERROR) ", line) for line in lines)
    assert "0 of 24 runs recorded, 3 to ask" in lines[0]
    assert any("server error: HTTP 503: busy" in line for line in lines)
    assert "end: limit; 3 runs recorded" in lines[-1]


def test_the_log_stays_small(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "_BYTES", 2000)
    with log.sampling_log(tmp_path) as logger:
        for number in range(500):
            logger.info("line %d", number)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["sampling.log", "sampling.log.1", "sampling.log.2"]
    assert all(path.stat().st_size <= 2000 for path in tmp_path.iterdir())
    assert "line 499" in (tmp_path / "sampling.log").read_text()


def write_study(folder, url, **changes):
    write_bank(folder)
    config = study_config(url, **changes).model_dump(mode="json", exclude_unset=True)
    (folder / "study.yaml").write_text(json.dumps(config))


def begin(folder, *words):
    command = [sys.executable, "-m", "dsqa", "sample", "study.yaml", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(server, requests):
    deadline = time.monotonic() + 120
    while len(server.seen) < requests and time.monotonic() < deadline:
        time.sleep(0.01)


def test_ctrl_c_once_says_how_to_go_on_and_twice_does_not_wait(tmp_path):
    with FaultServer(lambda seen: Fault("hang", delay=60) if seen.number > 4 else None) as server:
        write_study(tmp_path, server.url, runs=50, sampling={"concurrency": 4, "timeout": 120})
        process = begin(tmp_path)
        wait_for(server, 8)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, err = process.communicate(timeout=60)
        took = time.monotonic() - begun
    assert process.returncode == 130
    assert took < 10
    assert "dsqa: stopped with 4 of 300 runs recorded; nothing is lost; run the same command again to go on" in err
    assert "Traceback" not in err
    assert "4 of 300 runs, 4 new" in out
    session = read_sessions(tmp_path / "runs" / "small")[-1]
    assert session.how == "interrupted"
    # Four were cut off on their way: nobody knows whether they are billed.
    assert session.unsure.requests == 4


def test_a_budget_that_is_used_up_is_no_failure_and_says_how_to_go_on(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, budget={"requests": 7})
        process = begin(tmp_path)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0
        assert "7 of 24 runs, 7 new" in out
        assert "the budget is used up: 7 of 7 requests are made" in err
        assert "raise 'budget' in the study (or --budget)" in err
        out, err = begin(tmp_path, "--budget", "requests=9", "--json").communicate(timeout=120)
        data = json.loads(out)
    assert (data["new"], data["stopped"], data["unpriced"]) == (2, "budget", 9)


def test_no_key_in_anything_that_is_written_whatever_goes_wrong(tmp_path):
    """Records, log, account, study, output, tracebacks: an endpoint that quotes the key in all it says."""

    def script(seen):
        said = f"you sent {seen.headers['Authorization']} which is {KEY}"
        faults = [
            error(500, said, headers={"x-request-id": KEY}),
            error(429, said, headers={"Retry-After": "0", "x-ratelimit-remaining-requests": KEY}),
            Fault(body=said),
            error(400, said, "content_filter"),
            completion(seen.number, "m", said, reasoning_content=said),
        ]
        return faults[seen.number % 7] if seen.number % 7 < 5 else None

    with FaultServer(script) as server:
        settings = {"concurrency": 8, "timeout": 5, "retries": 1}
        write_study(tmp_path, server.url, runs=6, sampling=settings)
        process = begin(tmp_path)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        server.script = lambda seen: error(401, f"Incorrect API key provided: {KEY}")
        write_study(tmp_path, server.url, runs=7, sampling=settings)
        refused = begin(tmp_path)
        out_2, err_2 = refused.communicate(timeout=120)
        assert refused.returncode == 2
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert {"records.jsonl", "sampling.log", "sessions.jsonl", "study.json", "prices.yaml"} <= {p.name for p in files}
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
    assert KEY not in out + err + out_2 + err_2
    assert "***" in (tmp_path / "runs" / "small" / "records.jsonl").read_text()
