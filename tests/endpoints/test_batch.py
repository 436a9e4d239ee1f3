"""Batch sampling against a server that has the Files and Batch APIs: nothing lost, nothing asked twice."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from dsqa.cli.app import cli
from dsqa.cli.cost import estimate_text
from dsqa.endpoints.responses import response_request
from dsqa.errors import EndpointError, RecordError, StudyError, StudyLockedError
from dsqa.prices import cost_of, load_prices
from dsqa.records import FileLock, Record, read_records, usage_counts
from dsqa.sampling import estimate_study, read_sessions, sample_study
from dsqa.sampling.batch import (
    BatchFolder,
    cancel_batches,
    check_batches,
    collect_batches,
    encode_request,
    prepare_batches,
    read_requests,
    read_results,
    run_batches,
    submit,
    submit_batches,
)
from dsqa.sampling.sample import settings_of
from tests.endpoints.conftest import KEY
from tests.sampling.studies import prepare
from tests.support.server import FaultServer, completion, error

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(submit, "LOOK_AGAIN_SECONDS", 0.05)


def records(study):
    return list(read_records(study.records_path))


def jobs(study):
    return BatchFolder(study.batch_path).load().jobs


def collect_when_ended(study, *, waiting=0):
    """Collect until no more than so many jobs have not ended."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        got = collect_batches(study)
        if got.waiting <= waiting:
            return got
        time.sleep(0.02)
    raise AssertionError("the batches never ended")


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_four_steps_give_the_records_that_sampling_gives(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url)
        (job,) = prepare_batches(study)
        assert (job.requests, job.step, server.seen) == (24, "prepared", [])
        submit_batches(study)
        collect_when_ended(study)
        live = prepare(tmp_path / "live" if (tmp_path / "live").mkdir() is None else tmp_path, server.url)
        sample_study(live)
    mine, theirs = ({r.key: r for r in records(s)} for s in (study, live))
    assert mine.keys() == theirs.keys()
    assert len(mine) == 24
    for key, record in mine.items():
        other = theirs[key]
        assert (record.request, record.condition, record.status) == (other.request, other.condition, other.status)
        assert usage_counts(record.usage) == usage_counts(other.usage)
        assert record.text.startswith("answer ")
        assert record.batch == jobs(study)[0].batch_id
        assert (record.seconds, record.started_at) == (None, "2023-11-14T22:13:20.000+00:00")
    assert Counter(server.batches.executed).most_common(1)[0][1] == 1


def test_a_collection_has_its_line_in_the_account_and_the_lines_add_up(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url)
        sample_study(study, limit=5)
        prepare_batches(study)
        submit_batches(study)
        collect_when_ended(study)
    asked, *collected = read_sessions(study.root)
    assert (asked.tally.runs, sum(entry.tally.runs for entry in collected)) == (5, 19)
    last = collected[-1]
    assert (last.how, last.runs_after, last.in_flight) == ("complete", 24, 0)
    assert last.settings == {"batches": [jobs(study)[0].batch_id]}
    assert sum(entry.tally.tokens_out for entry in (asked, *collected)) == 24 * 5
    assert sum(entry.requests for entry in (asked, *collected)) == 24
    assert not (study.root / "session.json").exists()


def test_files_are_as_the_batch_api_wants_them(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url, models=["m", "other"])
        made = prepare_batches(study, max_requests=10)
        folder = BatchFolder(study.batch_path)
        assert sorted((job.model, job.requests) for job in made) == [
            ("m", 4), ("m", 10), ("m", 10), ("other", 4), ("other", 10), ("other", 10)
        ]  # fmt: skip
        ids = set()
        for job in made:
            for request in read_requests(folder.requests_path(job)):
                assert request.body["model"] == job.model
                assert request.url == "/v1/chat/completions"
                assert len(request.custom_id) <= 64
                assert request.custom_id.replace("-", "").isalnum()
                ids.add(request.custom_id)
        assert len(ids) == 48
        assert prepare_batches(study) == [], "what waits in a batch is not missing"
        size = max(folder.requests_path(job).stat().st_size for job in made) // 2
    other = prepare(tmp_path / "b" if (tmp_path / "b").mkdir() is None else tmp_path, server.url)
    for job in prepare_batches(other, max_bytes=size):
        assert BatchFolder(other.batch_path).requests_path(job).stat().st_size <= size
    with pytest.raises(StudyError, match="more than a batch file may have"):
        prepare_batches(prepare(tmp_path / "b", server.url, runs=5), max_bytes=50)


def test_run_does_everything_and_is_done_when_nothing_is_missing(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url)
        told = []
        got = run_batches(study, every=0.02, tell=told.append)
        assert (got.recorded, got.failed, got.again) == (24, 0, 0)
        assert told
        assert run_batches(study, every=0.02).recorded == 0
        assert server.batches.creates == 1
        more = prepare(tmp_path, server.url, runs=6)
        assert run_batches(more, every=0.02).recorded == 12
    assert len(records(study)) == 36
    assert len(server.batches.executed) == 36


def test_the_responses_api_in_a_batch(tmp_path):
    with FaultServer() as server:
        endpoints = {"default": {"base_url": server.url, "api_key_env": None, "api": "responses"}}
        study = prepare(tmp_path, server.url, endpoints=endpoints, runs=2)
        run_batches(study, every=0.02)
        assert {seen.path for seen in server.seen} == {"/v1/responses"}
    record = records(study)[0]
    assert record.request["max_output_tokens"] == 50
    assert usage_counts(record.usage) == (11, 4, 5, 2)
    assert response_request({"model": "m", "messages": []})["model"] == "m"


def test_azure_names_the_path_without_v1_and_signs_its_way(tmp_path):
    with FaultServer() as server:
        endpoints = {"default": {"base_url": server.url, "api_key_env": "DSQA_TEST_KEY", "auth": "api-key"}}
        study = prepare(tmp_path, server.url, endpoints=endpoints, runs=1)
        run_batches(study, every=0.02)
        assert jobs(study)[0].url == "/chat/completions"
        assert {batch["endpoint"] for batch in server.batches.batches.values()} == {"/chat/completions"}
    assert len(records(study)) == 6


def test_a_run_of_a_batch_costs_what_batches_cost():
    prices = load_prices()
    usage = {
        "prompt_tokens": 1_000_000,
        "completion_tokens": 1_000_000,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    condition = {"model": "gpt-4o-mini", "base_url": "https://api.openai.com/v1"}
    alone = Record("q", "c", 0, "h", condition, {}, "answered", usage=usage)
    # List price 0.15 + 0.60 dollars, half of it in a batch.
    assert cost_of(alone, prices).amount == pytest.approx(0.75)
    assert cost_of(replace(alone, batch="batch_1"), prices).amount == pytest.approx(0.375)


def test_a_budget_holds_for_batches_and_what_waits_in_them(tmp_path, caplog):
    with FaultServer() as server:
        server.batches.hold = True
        # A request may take its prompt and 50 tokens: between 80 and 160 by any count.
        study = prepare(tmp_path, server.url, budget={"tokens": 1600})
        (job,) = prepare_batches(study)
        assert 10 <= job.requests <= 20
        assert "the budget holds no more runs for a batch" in caplog.text
        assert prepare_batches(study) == []
        submit_batches(study)
        config = settings_of(study, study.describe())
        expected = estimate_study(config, tmp_path / "study.yaml", study.root)
        assert (expected.waiting, expected.models[0].requests) == (job.requests, 24 - job.requests)
        assert f"{job.requests} runs in batches left out" in estimate_text(expected, study.root)
        assert sample_study(study).new == 0, "what waits in a batch counts as spent"
        server.batches.hold = False
        collect_when_ended(study)
        # The answers took 16 tokens each, so that there is room for the others.
        run_batches(study, every=0.02)
        assert len(records(study)) == 24
        more = prepare(tmp_path, server.url, budget={"requests": 30}, runs=10)
        run_batches(more, every=0.02)
    assert len(records(more)) == 30
    assert len(server.batches.executed) == 30


# Interruptions


def test_while_runs_wait_in_a_batch_sampling_leaves_them_alone(tmp_path, caplog):
    with FaultServer() as server:
        server.batches.hold = True
        study = prepare(tmp_path, server.url)
        prepare_batches(study, limit=10)
        submit_batches(study)
        summary = sample_study(study)
        assert (summary.new, summary.total) == (14, 24)
        assert "10 runs wait in a batch" in caplog.text
        server.batches.hold = False
        assert collect_when_ended(study).recorded == 10
    asked = Counter(json.dumps(seen.body, sort_keys=True) for seen in server.seen)
    assert len(server.seen) == 24
    assert set(asked.values()) == {4}, "four runs of each cell"


@pytest.mark.parametrize("metadata", [True, False])
@pytest.mark.parametrize(("fault", "batches"), [("after", 1), ("before", 1), (500, 1)])
def test_a_lost_answer_to_the_making_of_a_batch_makes_no_second(tmp_path, fault, batches, metadata):
    with FaultServer() as server:
        server.batches.keep_metadata = metadata
        # A page of the list holds two: what was made must be found behind others.
        other = tmp_path / "other"
        other.mkdir()
        run_batches(prepare(other, server.url, runs=1), max_requests=2, every=0.02)
        server.batches.fail_create = fault
        study = prepare(tmp_path, server.url)
        prepare_batches(study)
        for _ in range(3):
            if fault != "after" and server.batches.fail_create:
                with pytest.raises(EndpointError, match="run the same command again"):
                    submit_batches(study)
            submit_batches(study)
        collect_when_ended(study)
        assert len(server.batches.batches) == 3 + batches
    assert len(records(study)) == 24
    assert Counter(r.key for r in records(study)).most_common(1)[0][1] == 1


def test_a_batch_whose_making_was_cut_off_by_a_kill_is_found_again(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url)
        prepare_batches(study)
        submit_batches(study)
        # As a kill between the endpoint's answer and its being written down leaves it.
        folder = BatchFolder(study.batch_path)
        state = folder.load()
        state.jobs[0].step, state.jobs[0].batch_id = "creating", None
        folder.save(state)
        submit_batches(study)
        collect_when_ended(study)
        assert len(server.batches.batches) == 1
    assert len(records(study)) == 24


ZYGOTE = """
import os, sys, traceback
from pathlib import Path
import openai
from dsqa.sampling.batch import run_batches, submit
from dsqa.study.folder import StudyFolder

submit.LOOK_AGAIN_SECONDS = 0.05
client = openai.OpenAI(api_key="x")
client.files, client.batches  # imported once, here
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        try:
            run_batches(StudyFolder.open(Path(sys.argv[1])), every=0.02)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
"""Starts a process for each line it reads: importing anew for each would take most of the test's time."""


def test_killed_at_random_moments_every_run_is_asked_and_recorded_once(tmp_path):
    moments = np.random.default_rng(20240611).uniform(0.01, 0.4, 30)
    killed = 0
    with FaultServer() as server:
        study = prepare(tmp_path, server.url, questions=3, runs=20)
        with subprocess.Popen(
            [sys.executable, "-c", ZYGOTE, str(study.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as zygote:
            for moment in moments:
                zygote.stdin.write("\n")
                zygote.stdin.flush()
                pid = int(zygote.stdout.readline())
                time.sleep(moment)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                status = int(zygote.stdout.readline())
                assert status in {0, -signal.SIGKILL}
                killed += status != 0
                if status == 0:
                    # Through: more runs, so that there is something to kill again.
                    study = prepare(tmp_path, server.url, questions=3, runs=study.describe().runs + 20)
            zygote.stdin.close()
        run_batches(study, every=0.02)
        executed = Counter(server.batches.executed)
    wanted = 6 * study.describe().runs
    assert killed >= 10
    assert len(executed) == wanted
    assert set(executed.values()) == {1}
    assert len({r.key for r in records(study)}) == len(study.records_path.read_text().splitlines()) == wanted


def test_killed_while_recording_it_goes_on_where_it_was(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url)
        prepare_batches(study)
        submit_batches(study)
        wait_for(lambda: all(b["status"] == "completed" for b in server.batches.batches.values()))
        state = BatchFolder(study.batch_path).load()
        collect_batches(study)
        whole = study.records_path.read_bytes()
        for keep in (0, 1, 700, len(whole) // 2, len(whole) - 1):
            study.records_path.write_bytes(whole[:keep])
            state.jobs[0].step, state.jobs[0].remote = "submitted", None
            BatchFolder(study.batch_path).save(state)
            collect_batches(study)
            assert len({r.key for r in records(study)}) == 24
            assert len(study.records_path.read_text().splitlines()) == 24


def test_two_processes_do_not_work_on_one_study(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url)
        prepare_batches(study)
        with FileLock(study.records_path.with_name("records.jsonl.lock")):
            for step in (prepare_batches, submit_batches, check_batches, collect_batches, cancel_batches):
                if step is collect_batches and not jobs(study):
                    continue
                with pytest.raises(StudyLockedError):
                    step(study)


# What comes back


def test_every_kind_of_answer_is_recorded_for_what_it_is(tmp_path):
    kinds = {
        0: completion(0, "m", "cut", finish_reason="length"),
        1: completion(1, "m", None, refusal="No."),
        2: completion(2, "m", None),
        3: error(400, "blocked", "content_filter"),
        4: error(400, "maximum context length is 8", "context_length_exceeded"),
        5: completion(5, "m", "a lone \ud83d surrogate"),
    }
    with FaultServer(lambda seen: kinds[seen.number % 6]) as server:
        study = prepare(tmp_path, server.url, runs=2)
        got = run_batches(study, every=0.02)
    assert (got.recorded, got.failed) == (12, 2)
    assert Counter(r.status for r in records(study)) == {
        "truncated": 2, "refused": 2, "empty": 2, "filtered": 2, "failed": 2, "answered": 2
    }  # fmt: skip
    failed = next(r for r in records(study) if r.status == "failed")
    assert failed.error["class"] == "too long"
    assert "a lone \ud83d surrogate" in {r.text for r in records(study)}


def test_what_expired_is_asked_again_and_only_that(tmp_path):
    with FaultServer() as server:
        late = set()

        def expire(name):
            # The window closes for every fifth request of the first batch.
            if server.batches.creates == 1 and name.endswith("3"):
                late.add(name)
                return True
            return False

        server.batches.expire = expire
        study = prepare(tmp_path, server.url)
        prepare_batches(study)
        submit_batches(study)
        got = collect_when_ended(study)
        assert (got.recorded, got.again) == (18, 6)
        assert jobs(study)[0].remote == "expired"
        assert run_batches(study, every=0.02).recorded == 6
    executed = Counter(server.batches.executed)
    assert set(executed.values()) == {1}
    assert len(late) == 6
    assert all(r.retries == 0 for r in records(study)), "what was never executed is no retry"


def test_a_cancelled_batch_gives_what_it_had(tmp_path):
    with FaultServer() as server:
        server.batches.hold = True
        study = prepare(tmp_path, server.url)
        prepare_batches(study)
        submit_batches(study)
        wait_for(lambda: len(server.batches.executed) == 12)
        assert collect_batches(study).waiting == 1
        cancel_batches(study)
        got = collect_when_ended(study)
        assert (got.recorded, got.again, jobs(study)[0].remote) == (12, 12, "cancelled")
        server.batches.hold = False
        run_batches(study, every=0.02)
    assert len(records(study)) == 24
    assert len(server.batches.executed) == 24


def test_what_was_only_prepared_is_forgotten_by_cancel(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url)
        prepare_batches(study)
        assert cancel_batches(study)[0].step == "failed"
        assert sample_study(study).new == 24


def test_errors_that_pass_are_tried_again_counted_and_in_the_end_recorded(tmp_path):
    def script(seen):
        if seen.body["temperature"] == 0.2:
            return error(500, "oh") if "1 plus 1" in seen.prompt else None
        return error(429, "busy") if seen.number <= 24 else None

    with FaultServer(script) as server:
        study = prepare(tmp_path, server.url)  # retries: 2
        run_batches(study, every=0.02)
    failed = [r for r in records(study) if r.status == "failed"]
    assert len(records(study)) == 24
    assert len(failed) == 4
    assert {r.question_id for r in failed} == {"q1"}
    assert {(r.retries, r.error["class"], r.error["status"]) for r in failed} == {(2, "server error", 500)}
    again = [r for r in records(study) if r.condition["temperature"] == 1.0]
    assert {(r.status, r.retries) for r in again} == {("answered", 1)}


def test_parameters_are_adapted_in_the_next_batch_and_recorded(tmp_path, caplog):
    def script(seen):
        return (
            error(400, "Unsupported: 'temperature'", "unsupported_parameter") if "temperature" in seen.body else None
        )

    with FaultServer(script) as server:
        study = prepare(tmp_path, server.url, runs=2)
        got = run_batches(study, every=0.02)
        assert (got.recorded, got.failed) == (12, 0)
        assert server.batches.creates == 2
    for record in records(study):
        assert "temperature" not in record.request
        assert record.temperature is None
        assert record.adapted[0]["asked"] == record.condition["temperature"]
    assert caplog.text.count("refuses the temperature") == 1


def test_a_refusal_for_good_is_one_line_and_records_nothing(tmp_path):
    with FaultServer(lambda _: error(404, "The model `m` does not exist", "model_not_found")) as server:
        study = prepare(tmp_path, server.url)
        with pytest.raises(EndpointError, match="has no model 'm'"):
            run_batches(study, every=0.02)
    assert records(study) == []


def test_a_bad_request_among_answered_ones_is_a_failed_run(tmp_path):
    def script(seen):
        return error(400, "something odd") if "1 plus 1" in seen.prompt else None

    with FaultServer(script) as server:
        study = prepare(tmp_path, server.url)
        got = run_batches(study, every=0.02)
    assert (got.recorded, got.failed) == (24, 8)


def test_a_batch_refused_whole_says_why_and_its_runs_are_missing_again(tmp_path):
    with FaultServer() as server:
        server.batches.max_requests = 5
        study = prepare(tmp_path, server.url)
        with pytest.raises(EndpointError, match=r"refused batch 0001 \(24 requests to 'm'\): too many requests"):
            run_batches(study, every=0.02)
        assert run_batches(study, max_requests=5, every=0.02).recorded == 24
    assert len(server.batches.executed) == 24


def test_a_full_queue_is_waited_for_then_given_up(tmp_path):
    with FaultServer() as server:
        server.batches.most_requests = 10
        study = prepare(tmp_path, server.url)
        prepare_batches(study)

        def make_room():
            wait_for(lambda: server.batches.creates >= 2)
            server.batches.most_requests = None

        thread = threading.Thread(target=make_room)
        thread.start()
        run_batches(study, every=0.02)
        thread.join()
        assert len(records(study)) == 24
        server.batches.most_requests = 1
        with pytest.raises(EndpointError, match="Enqueued token limit"):
            run_batches(prepare(tmp_path, server.url, runs=8), every=0.02)
    assert len(server.batches.executed) == 24


def test_an_endpoint_without_batches_or_with_a_wrong_key_is_one_line(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url.replace("/v1", "/nowhere/v1"))
        prepare_batches(study)
        with pytest.raises(EndpointError, match="has no Batch API"):
            submit_batches(study)
        server.batches.fail_create = 401
        other = tmp_path / "other"
        other.mkdir()
        study = prepare(other, server.url)
        prepare_batches(study)
        with pytest.raises(EndpointError, match="does not accept the key"):
            submit_batches(study)
        run_batches(study, every=0.02)
        assert len(records(study)) == 24
    with pytest.raises(EndpointError, match="run the same command again"):
        submit_batches(prepare_and_wait(tmp_path / "gone", server.url))


def prepare_and_wait(folder, url):
    folder.mkdir()
    study = prepare(folder, url)
    prepare_batches(study)
    return study


def test_a_damaged_result_file_names_the_line(tmp_path):
    with FaultServer() as server:
        study = prepare(tmp_path, server.url)
        prepare_batches(study)
        submit_batches(study)
        wait_for(lambda: all(b["status"] == "completed" for b in server.batches.batches.values()))
        output = BatchFolder(study.batch_path).output_path(jobs(study)[0])
        output.write_text('{"custom_id": "x", "response": null, "error": null}\n')
        with pytest.raises(RecordError, match="neither a response nor an error") as caught:
            collect_batches(study)
        assert f"{output}:1" in str(caught.value)
        output.unlink()
        assert collect_batches(study).recorded == 24


def test_a_study_without_a_batch_api_is_told(tmp_path):
    study = prepare(tmp_path, "", endpoints={"default": {"kind": "replay", "records": "x"}})
    with pytest.raises(StudyError, match="no endpoint of this study has a Batch API: default"):
        prepare_batches(study)


def test_files_of_others_can_be_read(tmp_path):
    path = tmp_path / "any.jsonl"
    path.write_bytes(encode_request("a b", "/v1/x", {"text": "\ud83d"}) + b"\n")
    assert [r.body for r in read_requests(path)] == [{"text": "\ud83d"}]
    path.write_text(
        '{"custom_id": "a", "response": {"status_code": 200, "body": {"x": NaN}}}\n'
        '{"custom_id": "b", "response": null, "error": {"code": "batch_expired"}}\n'
    )
    assert list(read_results(path)) == [("a", 200, {"x": "NaN"}, None), ("b", None, None, {"code": "batch_expired"})]


# From the command line, and what it must not show


def test_the_commands_of_the_verb(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    with FaultServer() as server:
        study = prepare(tmp_path, server.url)
        (tmp_path / "study.yaml").write_text(
            "name: small\nbank: bank.jsonl\nmodels: [m]\ntemperatures: [0.2, 1.0]\nruns: 4\n"
            "request: {max_tokens: 50}\n"
            f"endpoints:\n  default: {{base_url: '{server.url}', api_key_env: DSQA_TEST_KEY}}\n"
        )
        assert "no batches" in run(cli, ["batch", "status", "study.yaml"]).output
        assert run(cli, ["batch", "prepare", "study.yaml"]).output == "0001 m: 24 requests, prepared\n"
        assert "validating batch_" in run(cli, ["batch", "submit", "study.yaml"]).output
        wait_for(lambda: all(b["status"] == "completed" for b in server.batches.batches.values()))
        shown = json.loads(run(cli, ["batch", "status", "runs/small", "--json"]).output)
        assert (shown["jobs"][0]["remote"], shown["jobs"][0]["completed"]) == ("completed", 24)
        assert "24 new runs, 0 of them failed" in run(cli, ["batch", "collect", "study.yaml"]).output
        assert "nothing is missing" in run(cli, ["batch", "prepare", "study.yaml"]).output
        assert "0 new runs" in run(cli, ["batch", "run", "study.yaml"]).output
    assert len(records(study)) == 24


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_the_key_is_in_no_file_no_log_and_no_message(tmp_path, caplog, api):
    caplog.set_level("DEBUG")
    half = f"Incorrect API key provided: {KEY[:9]}****{KEY[-4:]}."

    def script(seen):
        if "1 plus 1" in seen.prompt:
            return (
                error(500, f"your key {KEY} was not liked") if seen.number % 2 else error(400, half, "content_filter")
            )
        if "responses" in seen.path:
            from tests.support.server import response

            return response(1, "m", f"your key is {KEY}, says the endpoint")
        return completion(1, "m", f"your key is {KEY}, says the endpoint", reasoning_content=KEY)

    with FaultServer(script) as server:
        endpoints = {"default": {"base_url": server.url, "api_key_env": "DSQA_TEST_KEY", "api": api}}
        study = prepare(tmp_path, server.url, endpoints=endpoints)
        run_batches(study, every=0.02)
        server.batches.fail_create = 401
        more = prepare(tmp_path, server.url, endpoints=endpoints, runs=5)
        with pytest.raises(EndpointError) as caught:
            run_batches(more, every=0.02)
    assert any("your key is ***" in r.text for r in records(study))
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    assert KEY[-4:] not in study.records_path.read_text()
    assert KEY not in caplog.text + str(caught.value) + repr(caught.getrepr(showlocals=False))
