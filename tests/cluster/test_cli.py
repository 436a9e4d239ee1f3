"""`--scheduler` on the command line."""

from __future__ import annotations

import os
import subprocess
import sys

from dsqa.records import read_records
from tests.cluster.conftest import KEY
from tests.cluster.test_sampling import SETTINGS
from tests.support.server import FaultServer, completion

ANSWER = "```python\nprint('@rows[50]')\n```\n@rows[50] @max_dist[1]"


def dsqa(*words: object) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    return subprocess.run(
        [sys.executable, "-m", "dsqa", *map(str, words)], capture_output=True, text=True, check=False, env=environment
    )


def test_sampled_and_scored_over_the_cluster(fleet, cluster, tmp_path):
    with FaultServer(lambda seen: completion(seen.number, "m", ANSWER), models=("m",)) as server:
        path = tmp_path / "study.yaml"
        path.write_text(SETTINGS.format(url=server.url, runs=5), encoding="utf-8")
        sampled = dsqa("sample", path, "--scheduler", fleet.address)
        assert sampled.returncode == 0, sampled.stderr
        assert "2 workers on 1 machine" in sampled.stderr
        assert len(server.seen) == 20
        assert {seen.headers["Authorization"] for seen in server.seen} == {f"Bearer {KEY}"}
    folder = tmp_path / "runs" / "spread"
    assert len(list(read_records(folder / "records.jsonl"))) == 20
    scored = dsqa("score", folder, "--scheduler", fleet.address, "--json")
    assert scored.returncode == 0, scored.stderr
    executions = (folder / "executions.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(executions) == 1
    assert '"outcome": "ran"' in executions[0]


def test_a_wrong_address_is_one_line_and_exit_code_2(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(SETTINGS.format(url="http://127.0.0.1:1/v1", runs=1), encoding="utf-8")
    done = dsqa("sample", path, "--scheduler", "nonsense")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "dsqa: field '--scheduler': 'nonsense' is no scheduler (write tcp://HOST:8786, or local:2 for this machine)"
    ]
    assert not (tmp_path / "runs").exists()
