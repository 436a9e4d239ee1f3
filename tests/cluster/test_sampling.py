"""Sampling over two worker processes, against a real server that counts and misbehaves."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from dsqa.cluster import ClusterOpener
from dsqa.cluster.wire import pack_failure, raise_failure
from dsqa.endpoints import PassingFailure, PermanentFailure, Scope
from dsqa.errors import ClusterError, EndpointError, MissingDependencyError
from dsqa.records import read_records
from dsqa.sampling import prepare_study, sample_study
from dsqa.study.parse import parse_study
from tests.cluster.conftest import KEY, Fleet
from tests.support.server import Fault, FaultServer, Seen, error

SETTINGS = """
name: spread
models: [m]
temperatures: [0.2, 1.0]
questions: [cars_rows, cars_max_dist]
runs: {runs}
endpoints: {{default: {{base_url: "{url}"}}}}
sampling: {{concurrency: 8}}
"""


def study(url: str, tmp_path: Path, runs: int = 10):
    return prepare_study(parse_study(SETTINGS.format(url=url, runs=runs)), None, tmp_path / "spread")


@pytest.fixture(autouse=True)
def _no_key_here(monkeypatch):
    # The key is in the workers' environment alone.
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_workers_ask_and_one_process_records(cluster, fleet, tmp_path):
    """A 500 now and then is retried as without a cluster; the key is nowhere but in what the server got."""

    def script(seen: Seen) -> Fault | None:
        return error(500, f"upset with {seen.headers['Authorization']}") if seen.number % 9 == 0 else None

    with FaultServer(script, latency=0.05, models=("m",)) as server:
        folder = study(server.url, tmp_path)
        opener = ClusterOpener(cluster)
        done = sample_study(folder, opener=opener)
        keys = {seen.headers["Authorization"] for seen in server.seen}
        asked = len(server.seen)
    recorded = list(read_records(folder.records_path))
    assert keys == {f"Bearer {KEY}"}
    assert len(recorded) == done.new == 40
    assert len({record.key for record in recorded}) == 40
    assert asked == 40 + done.retried
    assert opener.lost == 0
    assert {record.status for record in recorded} == {"answered"}
    for path in [*folder.root.rglob("*"), *fleet.folder.glob("*.log")]:
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    # Both have asked, and from there.
    ports = Counter(cluster.workers())
    assert len(ports) == 2


def test_a_worker_killed_mid_way_loses_nothing(cluster, fleet, tmp_path):
    with FaultServer(latency=0.3, models=("m",)) as server:
        folder = study(server.url, tmp_path, runs=20)
        opener = ClusterOpener(cluster)
        recorded_at_kill: list[set] = []
        seen_at_kill: list[int] = []

        def kill() -> None:
            while sum(1 for _ in read_records(folder.records_path)) < 16:
                time.sleep(0.02)
            fleet.kill("two")
            recorded_at_kill.append({record.key for record in read_records(folder.records_path)})
            seen_at_kill.append(len(server.seen))

        killer = threading.Thread(target=kill)
        killer.start()
        done = sample_study(folder, opener=opener)
        killer.join()
        asked = len(server.seen)
    recorded = list(read_records(folder.records_path))
    assert Counter(r.status for r in recorded) == {"answered": 80}
    assert len({record.key for record in recorded}) == 80
    assert done.new == 80
    # What is asked again is what was with the lost worker, and nothing else: at most its share of 8 in flight.
    assert 0 < opener.lost <= 8
    assert asked <= 80 + opener.lost
    again = [record for record in recorded if record.retries]
    assert len(again) == opener.lost
    assert not {record.key for record in again} & recorded_at_kill[0]


def test_stopped_and_gone_on_with(cluster, tmp_path):
    with FaultServer(latency=0.02, models=("m",)) as server:
        folder = study(server.url, tmp_path)
        assert sample_study(folder, opener=ClusterOpener(cluster), limit=13).new == 13
        assert sample_study(folder, opener=ClusterOpener(cluster)).new == 27
        assert len(server.seen) == 40


def test_a_wrong_key_ends_it_with_one_error(cluster, tmp_path):
    with FaultServer(lambda _: error(401, f"bad key {KEY}"), models=("m",)) as server:
        folder = study(server.url, tmp_path)
        with pytest.raises(EndpointError) as caught:
            sample_study(folder, opener=ClusterOpener(cluster))
    assert KEY not in str(caught.value)
    assert not list(read_records(folder.records_path))


def test_limits_hold_for_all_workers_together(cluster, tmp_path):
    with FaultServer(latency=0.2, models=("m",)) as server:
        folder = study(server.url, tmp_path)
        sample_study(folder, opener=ClusterOpener(cluster))
        assert server.most_in_flight <= 8


def test_failures_travel_whole():
    passing = PassingFailure("rate limit", "slow down", status=429, retry_after=7.0)
    passing.headers = {"x-ratelimit-remaining": "0"}
    with pytest.raises(PassingFailure) as caught:
        raise_failure(pack_failure(passing))
    assert vars(caught.value) == vars(passing)
    permanent = PermanentFailure("unknown model", "no m", scope=Scope.MODEL, status=404, hint="try n")
    with pytest.raises(PermanentFailure) as refused:
        raise_failure(pack_failure(permanent))
    assert vars(refused.value) == vars(permanent)


# What goes wrong


def test_no_scheduler_there_is_said(monkeypatch):
    from dsqa.cluster import connect, open_cluster

    monkeypatch.setattr(connect, "CONNECT_SECONDS", 1.0)
    with (
        pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1 "),
        open_cluster("tcp://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize("address", ["", "127.0.0.1:8786", "local:0", "local:x", "http://h"])
def test_what_is_no_scheduler_is_said(address):
    from dsqa.cluster import open_cluster

    with pytest.raises(ClusterError, match="is no scheduler"), open_cluster(address):
        pass


def test_without_distributed_the_install_command_is_said(monkeypatch):
    import sys

    from dsqa.cluster import open_cluster

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'dsqa\[cluster\]'"), open_cluster("tcp://h:1"):
        pass


def test_versions_that_differ_are_known():
    from dataclasses import replace

    from dsqa.cluster.facts import differences, machine_facts

    here = machine_facts()
    assert differences(here, here) == ([], [])
    there = replace(here, versions={**here.versions, "dsqa": "0.0.9", "pandas": "1.0", "seaborn": ""})
    ruled_out, said = differences(here, there)
    assert ruled_out == [f"dsqa 0.0.9 (here {here.versions['dsqa']})"]
    assert [text.split(" (")[0] for text in said] == ["pandas 1.0", "seaborn not installed"]


def test_a_worker_with_another_dsqa_is_left_out(cluster, fleet, monkeypatch, caplog):
    from dataclasses import replace

    from dsqa.cluster import Cluster

    other = Cluster(cluster.client)
    other._here = replace(other._here, versions={**other._here.versions, "dsqa": "9.9"})
    with caplog.at_level("WARNING", logger="dsqa.cluster"):
        assert other.workers() == {}
    assert sum("is not used: it has dsqa" in record.getMessage() for record in caplog.records) == 2


def test_a_missing_key_names_the_worker(fleet: Fleet, cluster, tmp_path):
    text = SETTINGS.format(url="http://192.0.2.1/v1", runs=1).replace("}}", ", api_key_env: NO_SUCH_KEY}}")
    config = parse_study(text)
    folder = prepare_study(config, None, tmp_path / "spread")
    with pytest.raises(EndpointError, match=r"on the worker tcp://.*NO_SUCH_KEY is not set"):
        sample_study(folder, opener=ClusterOpener(cluster))
    assert os.environ.get("NO_SUCH_KEY") is None
