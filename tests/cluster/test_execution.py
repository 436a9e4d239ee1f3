"""Code run by two worker processes, each in its own sandbox."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from dsqa.cluster import ClusterExecutor, execute
from dsqa.cluster.store import find_file, keep_piece
from dsqa.errors import ClusterError
from dsqa.execution import Snippet
from dsqa.execution import execute as run_here
from dsqa.study.sections import ExecutionConfig

LIMITS = ExecutionConfig()


def snippets(number: int, tmp_path: Path, seconds: float = 0.0) -> list[Snippet]:
    data = tmp_path / "numbers.csv"
    data.write_text("x\n1\n2\n3\n", encoding="utf-8")
    code = (
        "import time; time.sleep({})\nrows = open('numbers.csv').read().split()\nprint({}, sum(map(int, rows[1:])))"
    )
    return [Snippet(f"s{k}", code.format(seconds, k), {"numbers.csv": data}) for k in range(number)]


def test_the_same_results_as_here(cluster, tmp_path):
    many = [*snippets(20, tmp_path), Snippet("bad", "1/0"), Snippet("no", "def")]
    there = {r.snippet_id: r for r in ClusterExecutor(cluster)(iter(many), LIMITS)}
    here = {r.snippet_id: r for r in run_here(iter(many), LIMITS)}
    assert there.keys() == here.keys()
    for name, result in here.items():
        found = there[name]
        for field in ("outcome", "detail", "stdout", "stderr", "value", "exception", "line", "isolation"):
            assert getattr(found, field) == getattr(result, field)


def test_a_worker_killed_mid_way_loses_nothing(cluster, fleet, tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "LARGEST", 8)
    many = snippets(40, tmp_path, seconds=0.15)
    runner = ClusterExecutor(cluster)
    results = []
    killed = threading.Event()

    def kill() -> None:
        while len(results) < 8:
            time.sleep(0.02)
        fleet.kill("two")
        killed.set()

    killer = threading.Thread(target=kill)
    killer.start()
    for result in runner(iter(many), LIMITS):
        results.append(result)
        if len(results) == 8:
            killed.wait(30)
    killer.join()
    assert sorted(r.snippet_id for r in results) == sorted(s.id for s in many)
    assert {r.outcome for r in results} == {"ran"}
    assert runner.lost in (0, 8)


def test_data_files_travel_where_the_folder_is_not_shared(cluster, tmp_path, monkeypatch):
    """Workers are told of a path that they do not have, as on another machine."""
    many = snippets(4, tmp_path)
    monkeypatch.setattr(execute, "PIECE", 3)
    original = execute._Running.files_of

    def elsewhere(self, snippet):
        return tuple((name, digest, "/not/here/" + name) for name, digest, _ in original(self, snippet))

    monkeypatch.setattr(execute._Running, "files_of", elsewhere)
    results = list(ClusterExecutor(cluster)(iter(many), LIMITS))
    assert sorted(r.stdout.strip() for r in results) == ["0 6", "1 6", "2 6", "3 6"]


def test_a_file_that_arrives_damaged_is_not_kept():
    digest = "0" * 64
    with pytest.raises(ValueError, match="damaged"):
        keep_piece(digest, 0, b"something else", True)
    assert find_file(digest, "/not/here") is None


def test_a_file_with_the_same_name_and_other_content_is_not_used(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("other", encoding="utf-8")
    assert find_file("0" * 64, str(path)) is None


def test_a_chunk_that_always_fails_ends_it(cluster, tmp_path, monkeypatch):
    def broken(chunk: object) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(execute, "run_chunk", broken)
    with pytest.raises(ClusterError, match="no luck"):
        list(ClusterExecutor(cluster)(iter(snippets(3, tmp_path)), LIMITS))


def test_nothing_to_run_is_no_work(cluster):
    assert list(ClusterExecutor(cluster)(iter(()), LIMITS)) == []
