"""Asking, marking and looking in turn, against a real server and the real sandbox."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from dsqa.adaptive import Marks, sample_until_precise
from dsqa.records import read_records
from dsqa.sampling import prepare_study, sample_study
from dsqa.study.parse import parse_study
from dsqa.study.sections import StopConfig
from tests.support.server import Fault, FaultServer, Seen, completion, error

SETTINGS = """
name: looked
models: [m]
temperatures: [0.2, 1.0]
questions: [cars_rows, cars_max_dist]
runs: 40
stop: {stop}
endpoints: {{default: {{base_url: "{url}", api_key_env: null}}}}
sampling: {{concurrency: 8, retries: 0}}
"""


def steady(seen: Seen) -> dict:
    """Never right at the low temperature; right on every other request at the high one."""
    right = seen.body["temperature"] > 0.5 and seen.number % 2
    return completion(seen.number, "m", f"@{_name(seen)}[{_truth(seen) if right else 7}]")


def _name(seen: Seen) -> str:
    return re.findall(r"@(\w+)\[", seen.prompt)[0]


def _truth(seen: Seen) -> int:
    return 120 if "max" in _name(seen) else 50


@pytest.fixture
def server():
    with FaultServer(steady, models=("m",)) as running:
        yield running


def study(server: FaultServer, tmp_path: Path, stop: str = "{accuracy: 0.15, min_runs: 6, look_every: 6}"):
    config = parse_study(SETTINGS.format(url=server.url, stop=stop))
    return config, prepare_study(config, None, tmp_path / "looked")


def asking(folder):
    return lambda *, targets, limit, besides: sample_study(folder, targets=targets, limit=limit)


def through(folder, stop: StopConfig, **options):
    return sample_until_precise(folder, stop, asking(folder), Marks(folder), **options)


def runs_of(folder) -> Counter:
    return Counter((r.question_id, r.condition_id) for r in read_records(folder.records_path))


def test_precise_cells_stop_and_the_others_go_on_to_max_runs(server, tmp_path):
    config, folder = study(server, tmp_path)
    done = through(folder, config.stop)
    table = done.table.set_index(["question_id", "condition_id"])
    cold = [key for key in table.index if "_t0.2_" in key[1]]
    hot = [key for key in table.index if "_t1_" in key[1]]
    # 0 of 14 is narrow enough for ±0.15, so the look after 18 runs is the first to see it.
    assert [table.loc[key, "stopped_at"] for key in cold] == [18, 18]
    assert [table.loc[key, "state"] for key in hot] == ["max_runs"] * 2
    counts = runs_of(folder)
    assert [counts[key] for key in (*cold, *hot)] == [18, 18, 40, 40]
    assert done.through
    assert done.summary.new == len(server.seen) == 116
    assert (done.summary.recorded, done.summary.total) == (116, 116)
    saved = pd.read_parquet(folder.stopping_path)
    assert int(saved["saved"].sum()) == 44


def test_again_asks_nothing_and_decides_the_same(server, tmp_path):
    config, folder = study(server, tmp_path)
    first = through(folder, config.stop)
    again = through(folder, config.stop)
    pd.testing.assert_frame_equal(first.table, again.table)
    assert (again.looks, again.summary.new, len(server.seen)) == (1, 0, 116)


def test_in_small_pieces_it_comes_to_the_same_number_of_runs(server, tmp_path):
    """Whatever ends a session, the cells get the runs they would have got in one."""
    config, folder = study(server, tmp_path)
    sessions = 0
    while not through(folder, config.stop, limit=17).through:
        sessions += 1
        assert sessions < 20
    assert sorted(runs_of(folder).values()) == [18, 18, 40, 40]
    assert len(server.seen) == 116


def test_failed_runs_stay_in_the_denominator(tmp_path):
    def half(seen: Seen) -> dict | Fault:
        return error(500, "no") if seen.number % 3 == 0 else steady(seen)

    with FaultServer(half, models=("m",)) as server:
        config, folder = study(server, tmp_path, "{accuracy: 0.4, min_runs: 4, look_every: 4}")
        done = through(folder, config.stop)
    recorded = list(read_records(folder.records_path))
    assert any(r.status == "failed" for r in recorded)
    assert int(done.table["runs"].sum()) == len(recorded)


def test_only_some_cells_are_asked(server, tmp_path):
    config, folder = study(server, tmp_path)
    cells = frozenset(
        (c.question_id, c.condition_id, c.prompt_hash)
        for c in folder.describe().cells
        if c.question_id == "cars_rows" and "_t0.2_" in c.condition_id
    )
    done = through(folder, config.stop, cells=cells)
    assert done.through
    assert runs_of(folder) == {next(iter(cells))[:2]: 18}


def test_every_run_is_marked_once(server, tmp_path, monkeypatch):
    config, folder = study(server, tmp_path)
    marked: list[int] = []
    from dsqa.adaptive import marks as module

    def counting(records, *rest, **named):
        rows = list(records)
        marked.append(len(rows))
        return original(iter(rows), *rest, **named)

    original = module.score_records
    monkeypatch.setattr(module, "score_records", counting)
    done = through(folder, config.stop)
    assert sum(marked) == done.summary.new == 116
    assert len(marked) == done.looks


def test_twenty_looks_at_forty_cells_cost_little(tmp_path):
    """CPU of everything but asking, for 20 looks at 1,600 runs in 40 cells: about 0.2 s a look on a quiet machine."""
    ids = "[" + ", ".join(f"{c}" for c in ("cars_rows", "cars_max_dist", "cars_mean_dist", "cars_min_speed")) + "]"
    text = SETTINGS.replace("[cars_rows, cars_max_dist]", ids).replace(
        "[0.2, 1.0]", "[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]"
    )
    with FaultServer(lambda s: completion(s.number, "m", f"@x[{s.number % 2}]"), keep=False, models=("m",)) as server:
        config = parse_study(text.format(url=server.url, stop="{accuracy: 0.01, min_runs: 2, look_every: 2}"))
        folder = prepare_study(config, None, tmp_path / "looked")
        spent = []

        def ask(*, targets, limit, besides):
            begun = time.process_time()
            done = sample_study(folder, targets=targets, limit=limit)
            spent.append(time.process_time() - begun)
            return done

        begun = time.process_time()
        done = sample_until_precise(folder, config.stop, ask, Marks(folder))
        looking = time.process_time() - begun - sum(spent)
    assert done.looks == 21
    assert len(done.table) == 40
    assert looking / done.looks < 1


# As a process


def start(study_path: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dsqa", *words, str(study_path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


def test_ctrl_c_and_again_gives_the_same_decisions(tmp_path):
    with FaultServer(steady, models=("m",), latency=0.1) as server:
        path = tmp_path / "study.yaml"
        path.write_text(
            SETTINGS.format(url=server.url, stop="{accuracy: 0.15, min_runs: 6, look_every: 6}"), encoding="utf-8"
        )
        first = start(path, "sample")
        while len(server.seen) < 40:
            assert first.poll() is None
            time.sleep(0.01)
        first.send_signal(signal.SIGINT)
        _, said = first.communicate(timeout=120)
        assert first.returncode == 130, said
        assert "run the same command again" in said
        assert "Traceback" not in said
        second = start(path, "sample", "--json")
        out, said = second.communicate(timeout=240)
        assert second.returncode == 0, said
    assert "to save 44 of 160 runs" in said
    summary = json.loads(out)
    table = pd.read_parquet(Path(summary["folder"]) / "stopping.parquet")
    assert sorted(table["runs"]) == [18, 18, 40, 40]
    assert sorted(table["state"]) == ["max_runs", "max_runs", "precise", "precise"]


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        ("{min_runs: 5}", "says nothing to stop for"),
        ("{accuracy: 0.1, min_runs: 50, max_runs: 20}", "max_runs (20) is below min_runs (50)"),
        ("{accuracy: 0.1, looks: 3}", "settings here are: accuracy, verdict, min_runs, max_runs, look_every"),
        ("{accuracy: 10}", "less than 0.5"),
        ("{verdict: 95}", "less than 1"),
    ],
)
def test_what_is_wrong_with_stop_is_said(stop, said):
    from dsqa.errors import StudyError

    with pytest.raises(StudyError, match=re.escape(said)):
        parse_study(SETTINGS.format(url="http://127.0.0.1:1/v1", stop=stop))


def test_max_runs_takes_the_place_of_runs():
    config = parse_study(SETTINGS.format(url="http://127.0.0.1:1/v1", stop="{accuracy: 0.1, max_runs: 200}"))
    assert (config.runs, config.most_runs) == (40, 200)
