"""The study folder that comes of an import: runs, numbers, repeats, what is said, and that nothing is left behind."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from dsqa.errors import SourceError
from dsqa.importing import ImportOptions, import_study
from dsqa.importing import folder as folder_module
from tests.importing.support import imported, records, row, source_rows, write_lines


def test_every_run_is_recorded_with_its_row_and_its_metrics(tmp_path: Path) -> None:
    rows = [row(run=i, response=f"r{i}", mine=0.5 * i, judged=bool(i), remark="so so") for i in range(3)]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert [(r.run, r.text, r.status) for r in records(folder)] == [(i, f"r{i}", "answered") for i in range(3)]
    assert [r["row"] for r in source_rows(folder)] == rows
    assert [(r["question_id"], r["run"]) for r in source_rows(folder)] == [("a", 0), ("a", 1), ("a", 2)]
    table = pd.read_parquet(folder.root / "source_metrics.parquet")
    assert list(table.columns) == ["question_id", "condition_id", "run", "metric", "value", "text"]
    assert table.query("metric == 'mine'")["value"].tolist() == [0.0, 0.5, 1.0]
    assert table.query("metric == 'judged'")["value"].tolist() == [0.0, 1.0, 1.0]
    assert table.query("metric == 'remark'")["text"].tolist() == ["so so"] * 3
    assert said["runs"] == 3
    assert said["metrics"] == {"mine": 3, "judged": 3, "remark": 3}


def test_the_design_is_what_the_records_are_keyed_by(tmp_path: Path) -> None:
    rows = [row(model=m, temperature=t, max_tokens=9) for m in "xy" for t in (0, 1)]
    folder, _ = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    description = folder.describe()
    assert {(c.model, c.temperature, c.request["max_tokens"]) for c in description.conditions} == {
        (m, t, 9) for m in "xy" for t in (0.0, 1.0)
    }
    cells = {(c.question_id, c.condition_id, c.prompt_hash) for c in description.cells}
    assert {(r.question_id, r.condition_id, r.prompt_hash) for r in records(folder)} == cells
    assert {c.id for c in description.conditions} == {c[1] for c in cells}
    assert description.runs == 1
    assert records(folder)[0].messages == [{"role": "user", "content": "How many?"}]


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row(run=i, score=i) for i in range(5)])
    first = import_study([path], tmp_path / "one" / "s").folder
    second = import_study([path], tmp_path / "two" / "s").folder
    assert first is not None
    assert second is not None
    names = sorted(p.relative_to(first.root) for p in first.root.rglob("*") if p.is_file())
    assert len(names) == 6
    for name in names:
        assert (first.root / name).read_bytes() == (second.root / name).read_bytes(), name


def test_an_identical_repeat_is_counted_once_and_said(tmp_path: Path) -> None:
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", [row(run=0), row(run=0), row(run=1)]))
    assert [r.run for r in records(folder)] == [0, 1]
    assert said["duplicates"]["dropped_identical"] == 1


def test_differing_repeats_are_listed_with_both_places_and_nothing_is_written(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row(run=0), row(run=1), row(run=0, response="Four.")])
    with pytest.raises(SourceError) as caught:
        imported(tmp_path, path)
    assert f"{path}:1 and {path}:3" in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.jsonl"]


@pytest.mark.parametrize(
    ("choice", "kept"),
    [("first", {0: "A", 1: "B"}), ("last", {0: "D", 1: "B"}), ("all", {0: "A", 1: "C", 2: "D", 3: "B"})],
)
def test_differing_repeats_as_chosen(tmp_path: Path, choice: str, kept: dict[int, str]) -> None:
    given = [(0, "A"), (1, "B"), (0, "C"), (0, "C"), (0, "D")]
    path = write_lines(tmp_path / "t.jsonl", [row(run=n, response=t) for n, t in given])
    folder, said = imported(tmp_path, path, on_duplicate=choice)
    assert {r.run: r.text for r in records(folder)} == kept
    assert said["duplicates"] | {"first": []} == {
        "dropped_identical": 1, "differing": 2, "on_duplicate": choice, "first": [],
    }  # fmt: skip


def test_runs_without_numbers_are_numbered_in_order_and_equal_ones_are_all_kept(tmp_path: Path) -> None:
    rows = [row(), row(question_id="b", prompt="Why?"), row(), row(run=7), row(response="x")]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert [(r.question_id, r.run) for r in records(folder)] == [("a", 8), ("b", 0), ("a", 9), ("a", 7), ("a", 10)]
    assert any("4 runs have no number" in note for note in said["notes"])


def test_numbers_from_one_count_from_zero(tmp_path: Path) -> None:
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", [row(run=n) for n in (1, 2, 3)]))
    assert [r.run for r in records(folder)] == [0, 1, 2]
    assert any("counts runs from 1" in note for note in said["notes"])


def test_each_condition_counts_from_its_own_first_number(tmp_path: Path) -> None:
    rows = [row(model="a", run=n) for n in (0, 1)] + [row(model="b", run=n) for n in (1, 2)]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert [(r.condition["model"], r.run) for r in records(folder)] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert any("from 1 in b" in note and "elsewhere from 0" in note for note in said["notes"])


def test_seeds_are_no_run_numbers(tmp_path: Path) -> None:
    rows = [row(run=n, response=str(n)) for n in (20240611, 7, 1234)]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert {r.run: r.text for r in records(folder)} == {0: "7", 1: "1234", 2: "20240611"}
    assert folder.describe().runs == 3
    assert any("number no runs" in note for note in said["notes"])


def test_cells_of_more_runs_than_others_are_kept_whole(tmp_path: Path) -> None:
    rows = [row(run=n) for n in range(100)] + [row(question_id="b", prompt="Why?", run=n) for n in range(103)]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert len(records(folder)) == 203
    assert said["runs_per_cell"] == {"fewest": 100, "most": 103}
    assert folder.describe().runs == 103


def test_whole_numbers_written_as_floats_are_run_numbers_and_others_are_not(tmp_path: Path) -> None:
    folder, _ = imported(tmp_path, write_lines(tmp_path / "t.jsonl", [row(run=0.0), row(run=1.0)]))
    assert [r.run for r in records(folder)] == [0, 1]
    with pytest.raises(SourceError, match=r"u.jsonl:1: 0.5 is no run number"):
        import_study([write_lines(tmp_path / "u.jsonl", [row(run=0.5)])], tmp_path / "runs" / "u")


def test_different_prompts_in_a_cell_are_said_and_the_cell_stays_one(tmp_path: Path) -> None:
    rows = [row(run=0, system="Be brief."), row(run=1, system="Be brief.")]
    rows += [row(run=2, system="Be brief.", prompt="How many?\n\n")]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    assert len({r.prompt_hash for r in records(folder)}) == 1
    assert len(folder.describe().cells) == 1
    assert any("1 cells hold runs of different prompts" in note for note in said["notes"])


def test_one_id_with_two_texts_is_refused_and_can_be_split(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row(run=0), row(run=0, prompt="How often?"), row(run=1)])
    with pytest.raises(SourceError, match=r"question 'a' has two texts.*t.jsonl:1.*t.jsonl:2"):
        imported(tmp_path, path)
    folder, _ = imported(tmp_path, path, on_different_question="split")
    assert [(q.id, q.question) for q in folder.bank()] == [("a", "How many?"), ("a-2", "How often?")]
    assert [(r.question_id, r.run) for r in records(folder)] == [("a", 0), ("a-2", 0), ("a", 1)]


def test_a_question_with_two_ground_truths_is_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row(run=0, truth="3"), row(run=1, truth="4")])
    with pytest.raises(SourceError, match="two ground truths: '3'"):
        imported(tmp_path, path)


def test_questions_of_a_bank_are_matched_by_id_and_by_text(tmp_path: Path) -> None:
    bank = tmp_path / "bank.csv"
    bank.write_text('id,question,answer\nx1,"How  many?",3\nb,Why?,42\nunused,Who?,me\n')
    rows = [row(question_id="first"), row(question_id="b", prompt="Why?"), row(question_id="new", prompt="Where?")]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows), bank=bank)
    assert [(q.id, q.marked) for q in folder.bank()] == [("x1", True), ("b", True), ("new", False)]
    assert [r.question_id for r in records(folder)] == ["x1", "b", "new"]
    assert any(note.startswith("1 questions of the bank have no run") for note in said["notes"])


def test_a_bank_of_other_questions_is_refused(tmp_path: Path) -> None:
    bank = tmp_path / "bank.csv"
    bank.write_text("id,question,answer\nz,Who?,me\n")
    with pytest.raises(SourceError, match=r"the bank has none of the questions: the runs answer 'a'"):
        imported(tmp_path, write_lines(tmp_path / "t.jsonl", [row()]), bank=bank)


def test_the_banks_text_stands_for_a_prompt_that_the_source_lacks(tmp_path: Path) -> None:
    bank = tmp_path / "bank.csv"
    bank.write_text("id,question,answer\na,How many are there?,3\n")
    given = {name: value for name, value in row().items() if name != "prompt"}
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", [given]), bank=bank)
    assert records(folder)[0].messages == [{"role": "user", "content": "How many are there?"}]
    assert any("runs have no prompt" in note for note in said["notes"])


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row()])
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes())
    folder, said = imported(tmp_path, [path, copy, path])
    assert len(records(folder)) == 1
    assert said["left_out"] == [{"what": str(copy), "why": f"the same file as {path}", "times": 1}]


def test_a_folder_that_is_there_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row()])
    (tmp_path / "runs" / "s").mkdir(parents=True)
    with pytest.raises(SourceError, match="is there already"):
        imported(tmp_path, path)
    assert list((tmp_path / "runs" / "s").iterdir()) == []


def test_keys_are_struck_out_everywhere(tmp_path: Path) -> None:
    key = "sk-proj-" + "Ab3" * 12
    rows = [row(prompt=f"Use {key}!", response=f"I used {key}; sk-learn-style names stay.", api_key="hush", note=key)]
    folder, said = imported(tmp_path, write_lines(tmp_path / "t.jsonl", rows))
    for path in folder.root.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            content = json.dumps(source_rows(folder)).encode() if path.suffix == ".gz" else content
            assert key.encode() not in content, path
            assert b"hush" not in content, path
    assert said["keys_struck_out"] > 3
    assert records(folder)[0].text == "I used sk-***; sk-learn-style names stay."


def test_lone_surrogates_survive_in_records_and_not_in_the_bank(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    line = r'{"question_id": "a\ud800", "prompt": "x\ud800", "model": "m", "response": "r\udfff", "judge": "\ud800"}'
    path.write_text(line + "\n")
    folder, _ = imported(tmp_path, path)
    assert records(folder)[0].text == "r\udfff"
    assert [q.id for q in folder.bank()] == ["a?"]
    assert records(folder)[0].question_id == "a?"


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row(run=n, response="x" * 2000) for n in range(200)])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
        with pytest.raises(SourceError, match="cannot be written: File too large"):
            imported(tmp_path, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.jsonl"]
    monkeypatch.setattr(folder_module, "replace_text", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(SourceError, match="No space left"):
        imported(tmp_path, path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.jsonl"]


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    fifo = tmp_path / "fed.jsonl"
    path = write_lines(tmp_path / "t.jsonl", [row(run=n) for n in range(20_000)])
    fifo.write_bytes(path.read_bytes() * 20)
    command = [sys.executable, "-m", "dsqa", "import", str(fifo), "--out", str(tmp_path / "runs" / "s")]
    # What runs in the background of a shell starts with SIGINT ignored, and so would its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 120
    while not any((tmp_path / "runs").glob(".dsqa-import-*/spool")) and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130, said
    assert not (tmp_path / "runs").exists()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from Linux's /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Twelve times the bytes in as many runs: the peak may differ by little, in a process of its own each."""
    peaks = []
    for size in (1, 12):
        path = write_lines(
            tmp_path / f"{size}.jsonl", [row(run=n, response="word " * 1000 * size) for n in range(500)]
        )
        script = (
            "import re, sys; from pathlib import Path; from dsqa.importing import import_study\n"
            "import_study([Path(sys.argv[1])], Path(sys.argv[2]))\n"
            # Not ru_maxrss: that of a child begins with its parent's.
            "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
        )
        command = [sys.executable, "-c", script, str(path), str(tmp_path / f"out{size}")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout) * 1024)
        assert path.stat().st_size > 2_500_000 * size
    # 27 MB more to read, of which one line at a time is held.
    assert peaks[1] - peaks[0] < 9_000_000


def test_the_list_of_files_is_hashed(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [row()])
    _, said = imported(tmp_path, path)
    assert said["files"][0]["name"] == str(path)
    assert len(said["files"][0]["sha256"]) == 64
    assert said["files"][0]["bytes"] == path.stat().st_size


def test_the_design_is_described_by_whoever_knows(tmp_path: Path) -> None:
    seen: list[list[tuple[str, str, int]]] = []

    def describe(cells: list[tuple[str, str, int]]) -> list[str]:
        seen.append(cells)
        return ["one cell of two runs"]

    path = write_lines(tmp_path / "t.jsonl", [row(run=0), row(run=1)])
    done = import_study([path], tmp_path / "s", ImportOptions(describe_design=describe))
    assert done.description["design"] == ["one cell of two runs"]
    assert [(q, n) for q, _, n in seen[0]] == [("a", 2)]


def test_a_question_of_the_bank_that_is_not_valid_does_not_come_into_the_study(tmp_path: Path) -> None:
    good = {"question": "How many?", "concepts": ["X"], "format": "@n[number]", "level": "easy"}
    good["common_answers"] = [["n", "3"]]
    bank = write_lines(
        tmp_path / "bank.jsonl", [{"id": "a", **good, "format": "no placeholder"}, {"id": "b", **good}]
    )
    runs = write_lines(tmp_path / "t.jsonl", [row(question="a", run=0), row(question="b", run=0)])
    folder, _ = imported(tmp_path, runs, bank=bank)
    assert next(q.format for q in folder.bank() if q.id == "b") == "@n[number]"
