"""`dsqa` as a process, from `init` to the report, against a real server that counts what it is asked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from dsqa.cli.init import init
from tests.support.server import Fault, FaultServer, Seen, completion, error

KEY = "sk-very-secret-0123456789"
RIGHT = """\
```python
import pandas as pd
marks = pd.read_csv("marks.csv")
print(f"@n_students[{len(marks)}]")
```
@n_students[5]"""
WRONG = RIGHT.replace("{len(marks)}", "{len(marks) + 1}").replace("[5]", "[6]")


def answer(seen: Seen) -> dict:
    """Right on every other request about the first question; no code, no answer on the second."""
    text = "I cannot say." if "slope" in seen.prompt else RIGHT if seen.number % 2 else WRONG
    return completion(seen.number, "m", text)


def dsqa(*words: str | Path, cwd: Path, key: str | None = KEY, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OPENAI_API_KEY": key or ""}
    if key is None:
        del environment["OPENAI_API_KEY"]
    command = [sys.executable, "-m", "dsqa", *map(str, words)]
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result


def one_line(result: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in result.stderr.splitlines() if line.startswith("dsqa:")]
    assert len(lines) == 1, result.stderr
    assert result.stdout == ""
    return lines[0]


def write_study(folder: Path, url: str, *, runs: int = 4, temperatures: str = "[0.2, 1.0]") -> Path:
    # In this process, since each start of another costs a second; `init` as a process has its own test.
    assert CliRunner().invoke(init, [str(folder)]).exit_code == 0
    study = folder / "study.yaml"
    text = study.read_text()
    text = text.replace("https://api.openai.com/v1", url).replace("gpt-4o-mini", "m")
    text = re.sub(r"^runs: \d+", f"runs: {runs}", text, flags=re.M)
    text = re.sub(r"^temperatures: .*$", f"temperatures: {temperatures}", text, flags=re.M)
    study.write_text(text)
    return study


@pytest.fixture
def server():
    with FaultServer(answer, models=("m",)) as running:
        yield running


def test_run_then_run_again_then_extend(tmp_path, server):
    study = write_study(tmp_path / "home work é", server.url)
    first = dsqa("run", study, cwd=tmp_path)
    assert len(server.seen) == 2 * 2 * 4
    lines = first.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["Study", "Runs", "Verdict", "Accuracy", "Report"]
    report = tmp_path / lines[-1].removeprefix("Report").strip()
    assert report.is_file()
    recorded = report.parents[1]

    outcomes = pd.read_parquet(recorded / "outcomes.parquet")
    assert len(outcomes) == 16
    marks = outcomes.groupby("question_id")[["completion", "accuracy"]].sum()
    # On the second question every run completes and none is read; how many of the first are right depends on the
    # order in which requests arrive, but what the server answered is what counts.
    assert marks.loc["q2"].tolist() == [8, 0]
    texts = [json.loads(line) for line in (recorded / "records.jsonl").read_text().splitlines()]
    assert marks.loc["q1", "accuracy"] == sum(r["text"] == RIGHT for r in texts)
    q1 = outcomes[outcomes["question_id"] == "q1"]
    assert set(q1["execution"]) <= {"ran, right", "ran, wrong"}
    assert (q1["score"] == q1["completion"] + q1["accuracy"] + q1["executability"] / 2).all()

    again = dsqa("run", study, "--json", cwd=tmp_path)
    assert len(server.seen) == 16
    data = json.loads(again.stdout)
    assert (data["runs"], data["new_runs"], data["runs_planned"]) == (16, 0, 16)

    study.write_text(study.read_text().replace("runs: 4", "runs: 5").replace("[0.2, 1.0]", "[0.2, 1.0, 0.7]"))
    more = json.loads(dsqa("sample", study, "--json", cwd=tmp_path).stdout)
    assert (more["recorded"], more["new"]) == (30, 14)
    assert len(server.seen) == 30

    for path in recorded.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    assert server.seen[0].headers["Authorization"] == f"Bearer {KEY}"


def test_each_step_reads_what_the_one_before_wrote(tmp_path, server):
    study = write_study(tmp_path / "steps", server.url, runs=2, temperatures="[1.0]")
    dsqa("sample", study, "--limit", 1, cwd=tmp_path)
    assert len(server.seen) == 1
    sampled = dsqa("sample", study, cwd=tmp_path)
    assert "4 of 4 runs, 3 new" in sampled.stdout
    recorded = tmp_path / "steps" / "runs" / "steps"
    assert "dsqa score" in one_line(dsqa("report", recorded, cwd=tmp_path, code=2))
    dsqa("score", recorded, cwd=tmp_path)
    cells = pd.read_parquet(recorded / "cells.parquet")
    assert cells["runs"].tolist() == [2, 2]
    reports = dsqa("report", study, "--notebook", "overview", "--format", "html,pdf", cwd=tmp_path).stdout.split()
    assert [Path(path).suffix for path in reports] == [".html", ".pdf"]
    assert (tmp_path / reports[1]).read_bytes().startswith(b"%PDF")


def test_mended_ground_truth_is_marked_anew_without_asking(tmp_path, server):
    study = write_study(tmp_path / "mend", server.url, runs=2, temperatures="[1.0]")
    server.script = lambda seen: completion(seen.number, "m", WRONG)
    dsqa("sample", study, cwd=tmp_path)
    bank = study.parent / "bank.jsonl"
    bank.write_text(bank.read_text().replace('"5"', '"6"'))
    dsqa("score", study, cwd=tmp_path)
    assert len(server.seen) == 4
    outcomes = pd.read_parquet(study.parent / "runs" / "mend" / "outcomes.parquet")
    assert outcomes.groupby("question_id")["accuracy"].sum().to_dict() == {"q1": 2, "q2": 0}


class TestBadInput:
    """Each is one line, exit code 2, and nothing on stdout."""

    def test_no_such_study(self, tmp_path):
        assert "dsqa init" in one_line(dsqa("run", "nothing.yaml", cwd=tmp_path, code=2))

    def test_broken_study_names_its_line(self, tmp_path):
        (tmp_path / "s.yaml").write_text("name: s\nmodels: [m]\nrunz: 3\n")
        line = one_line(dsqa("run", "s.yaml", cwd=tmp_path, code=2))
        assert "s.yaml:3" in line
        assert "runz" in line

    def test_malformed_bank_line(self, tmp_path, server):
        study = write_study(tmp_path / "s", server.url)
        bank = study.parent / "bank.jsonl"
        first, _ = bank.read_text().splitlines()
        bank.write_text(first + '\n{"id": "q2", "question": \n')
        assert "bank.jsonl:2" in one_line(dsqa("run", study, cwd=tmp_path, code=2))
        assert not server.seen

    def test_missing_data_file(self, tmp_path, server):
        study = write_study(tmp_path / "s", server.url)
        (study.parent / "data" / "marks.csv").unlink()
        assert "marks.csv" in one_line(dsqa("run", study, cwd=tmp_path, code=2))
        assert not server.seen

    def test_key_not_set(self, tmp_path):
        study = write_study(tmp_path / "s", "http://192.0.2.1/v1")
        assert "OPENAI_API_KEY" in one_line(dsqa("run", study, cwd=tmp_path, key=None, code=2))

    def test_wrong_key_is_not_repeated(self, tmp_path, server):
        server.script = lambda seen: error(401, f"Incorrect API key provided: {KEY}", "invalid_api_key")
        study = write_study(tmp_path / "s", server.url)
        line = one_line(dsqa("run", study, cwd=tmp_path, code=2))
        assert "OPENAI_API_KEY" in line
        assert KEY not in line

    def test_unknown_model_names_those_there_are(self, tmp_path, server):
        server.script = lambda seen: error(404, "The model does not exist", "model_not_found")
        study = write_study(tmp_path / "s", server.url)
        line = one_line(dsqa("run", study, cwd=tmp_path, code=2))
        assert "'m'" in line

    def test_unreachable_endpoint(self, tmp_path):
        study = write_study(tmp_path / "s", "http://127.0.0.1:9/v1")
        study.write_text(study.read_text().replace("sampling:\n", "sampling:\n  retries: 0\n"))
        assert "127.0.0.1:9" in one_line(dsqa("run", study, cwd=tmp_path, code=2))

    def test_address_of_something_else_records_nothing(self, tmp_path, server):
        server.script = lambda seen: Fault(body="<html>hello</html>", headers={"Content-Type": "text/html"})
        study = write_study(tmp_path / "s", server.url)
        study.write_text(study.read_text().replace("sampling:\n", "sampling:\n  retries: 0\n"))
        assert server.url in one_line(dsqa("sample", study, cwd=tmp_path, code=2))
        assert (study.parent / "runs" / "s" / "records.jsonl").read_text() == ""

    def test_data_file_that_is_no_text(self, tmp_path, server):
        study = write_study(tmp_path / "s", server.url)
        (study.parent / "data" / "marks.csv").write_bytes(b"PK\x03\x04\x00\x00" * 100)
        assert "marks.csv" in one_line(dsqa("sample", study, cwd=tmp_path, code=2))
        assert not server.seen

    @pytest.mark.parametrize(
        ("name", "line"),
        [("records.jsonl", '{"usage": ["a"]}'), ("executions.jsonl", '{"schema": 1, "key": "k", "outcome": "zzz"}')],
    )
    def test_damaged_line_is_named(self, tmp_path, server, name, line):
        study = write_study(tmp_path / "s", server.url, runs=1)
        dsqa("sample", study, cwd=tmp_path)
        with (study.parent / "runs" / "s" / name).open("a") as handle:
            handle.write(line + "\n")
        assert f"{name}:" in one_line(dsqa("score", study, cwd=tmp_path, code=2))

    def test_init_overwrites_nothing(self, tmp_path):
        dsqa("init", "s", cwd=tmp_path)
        (tmp_path / "s" / "study.yaml").write_text("mine")
        assert "already" in one_line(dsqa("init", "s", cwd=tmp_path, code=2))
        assert (tmp_path / "s" / "study.yaml").read_text() == "mine"

    def test_folder_that_records_no_study(self, tmp_path):
        assert "study.json" in one_line(dsqa("score", tmp_path, cwd=tmp_path, code=2))

    def test_unknown_format(self, tmp_path):
        result = dsqa("run", "s.yaml", "--format", "epub", cwd=tmp_path, code=2)
        assert "html" in result.stderr


def test_doctor_says_what_is_there_and_never_a_key(tmp_path):
    result = dsqa("doctor", "--json", cwd=tmp_path)
    findings = {finding["name"]: finding for finding in json.loads(result.stdout)}
    assert findings["sandbox"]["state"] == "ok"
    assert findings["OPENAI_API_KEY"]["detail"] == "set"
    assert "--scheduler" in findings["cluster"]["detail"]
    assert KEY not in result.stdout
    assert "not set" in dsqa("doctor", cwd=tmp_path, key=None).stdout


def test_help_is_quick_and_names_every_verb(tmp_path):
    text = dsqa("--help", cwd=tmp_path).stdout
    for verb in ("demo", "init", "run", "sample", "score", "report", "doctor"):
        assert f"dsqa {verb}" in text


def test_reader_that_goes_away_is_no_error(tmp_path):
    command = f"{sys.executable} -m dsqa doctor; echo $? >&2"
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    _, stderr = process.communicate()
    assert stderr.split()[-1] == "0"
    assert "Traceback" not in stderr
