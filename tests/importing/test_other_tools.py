"""The logs in logs/ were written by the tools; what is expected of them is the tools' own word (said.json)."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow
import pytest

from dsqa.errors import SourceError
from dsqa.importing import ReadOptions, SourceRun
from dsqa.importing.detection import choose_reader, source_files
from dsqa.importing.files import zstd_stream
from dsqa.importing.readers.inspect_files import read_samples
from dsqa.importing.runs import ImportReport
from tests.importing.round_trip.compare import compare
from tests.importing.support import imported, records, write_lines

LOGS = Path(__file__).parent / "logs"


def said(tool: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((LOGS / tool / "said.json").read_text("utf-8"))
    return found


def log(kind: str) -> Path:
    """Return one of Inspect's logs: by what its name ends with, or by its status."""
    for name, about in said("inspect").items():
        if kind in {about["status"], "odd" if "_odd_" in name else ""} or name.endswith(kind):
            return LOGS / "inspect" / name
    raise AssertionError(kind)


def read(*paths: Path, report: ImportReport | None = None, **options: Any) -> list[SourceRun]:
    files = source_files(paths)
    return list(choose_reader(files).read(files, ReadOptions(**options), report or ImportReport()))


SETS = [
    *[("inspect", [name]) for name in said("inspect") if "_odd_" not in name],
    ("lm-eval", [path.name for path in (LOGS / "lm-eval").glob("*_20*")]),
    ("promptfoo", ["promptfoo.json"]),
    ("promptfoo", ["promptfoo.jsonl", "promptfooconfig.yaml"]),
]


@pytest.mark.parametrize(
    ("tool", "names"), SETS, ids=lambda given: given if isinstance(given, str) else given[0][-12:]
)
def test_runs_texts_tokens_and_scores_are_what_the_tool_says(tool: str, names: list[str]) -> None:
    theirs = next(said(tool)[name] for name in names if name in said(tool))
    found = compare([LOGS / tool / name for name in names], theirs["runs"])
    assert found.differences == []
    assert found.runs == found.expected > 0
    assert found.texts[1] == 2 * found.runs
    assert tool == "lm-eval" or found.usage[1] > found.runs / 2
    assert found.scores[1] > 0


def test_an_inspect_log_that_ended_with_an_error_says_what_is_missing() -> None:
    report = ImportReport()
    runs = read(log("error"), report=report)
    assert report.notes["logs ended with the status 'error', so samples may be missing"] == 1
    assert report.notes["samples that a log's plan has are not in it"] == 2 * 3 - len(runs)
    failed = [run for run in runs if run.status == "failed"]
    assert failed
    assert all(run.error is not None and "will not answer" in run.error["message"] for run in failed)


def test_what_is_seldom_in_inspect_logs() -> None:
    report = ImportReport()
    runs = {(run.question, run.run): run for run in read(log("odd"), report=report)}
    picture, tool, letter = runs["picture", 1], runs["tool", 1], runs["letter", 1]
    assert (picture.text, picture.reasoning) == ("It is 4.", "Two and two.")
    assert picture.messages == [
        {"role": "user", "content": [{"type": "text", "text": "How many dots?"}, {"type": "image"}]}
    ]
    assert "pictures and files in messages" in report.left_out
    assert picture.truth is None
    assert "target" in report.left_out  # 4 or four
    assert tool.text == "The tool says 4."
    assert [message["role"] for message in tool.messages or ()] == ["user", "assistant", "tool"]
    assert letter.question_text == "Which is even?\nA) 4\nB) 5"
    assert runs["letter", 2].text == "5"
    assert runs["letter", 2].metrics == {}
    assert tool.metrics["model_graded_qa"] == (1.0, "C")
    assert picture.metrics["model_graded_qa"] is None  # the judge gave no grade
    assert (picture.metrics["points[0]"], picture.metrics["points[1]"]) == (1.0, 0.5)
    assert "points.answer" not in picture.metrics  # 500 characters of it


def test_an_unscored_mark_is_missing_and_a_dict_has_a_metric_per_key(tmp_path: Path) -> None:
    folder, _ = imported(tmp_path, log(".eval"))
    metrics = pd.read_parquet(folder.root / "source_metrics.parquet").set_index("metric")
    assert metrics.loc["sure", "text"].isna().any()
    assert set(metrics.loc["sure", "text"].dropna()) == {"P"}
    assert set(metrics.loc["shape.has_code", "value"]) <= {0.0, 1.0}
    assert set(zip(metrics.loc["answer", "text"], metrics.loc["answer", "value"], strict=True)) == {
        ("C", 1.0),
        ("I", 0.0),
    }
    record = records(folder)[0]
    assert record.condition["endpoint"] == "openai-api/local"
    assert (record.condition["model"], record.temperature) == ("small", 0.7)
    assert record.request["max_tokens"] == 60


def rewritten(path: Path, change: Any) -> None:
    """Write an .eval log without zstd, each sample as `change` makes it."""
    source = log(".eval")
    found = {where.split(":", 1)[1]: sample for where, sample in read_samples(source, ImportReport())}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        header = json.loads(json.dumps({"version": 2, "status": "success", "eval": {"task": "four", "model": "p/m"}}))
        archive.writestr("header.json", json.dumps(header))
        for name, sample in found.items():
            for text in change(dict(sample)):
                archive.writestr(name, text)


def test_a_sample_that_was_tried_again_counts_once_the_last_time(tmp_path: Path) -> None:
    def twice(sample: dict[str, Any]) -> list[str]:
        again = {**sample, "output": {"choices": [{"message": {"content": "again"}, "stop_reason": "stop"}]}}
        return [json.dumps(sample), json.dumps(again)]

    with pytest.warns(UserWarning, match="Duplicate name"):
        rewritten(tmp_path / "a.eval", twice)
    report = ImportReport()
    runs = read(tmp_path / "a.eval", report=report)
    assert {run.text for run in runs} == {"again"}
    assert report.left_out_counts["samples that were replaced later in the log"] == len(runs)


def test_transcripts_of_any_length_are_passed_over(tmp_path: Path) -> None:
    import tracemalloc

    event = json.dumps({"event": "model", "input": "y" * 100_000})

    def long(sample: dict[str, Any]) -> list[str]:
        body = json.dumps({name: value for name, value in sample.items() if name != "attachments"})
        return [f'{{"events": [{",".join([event] * 100)}], {body[1:]}']

    rewritten(tmp_path / "long.eval", long)
    tracemalloc.start()
    try:
        runs = read(tmp_path / "long.eval")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(runs) == 12
    # 10 MB a sample, 120 MB in all: what is held are some pieces of 1 MB, in bytes, as text and decoded.
    assert peak < 10 << 20


def test_several_zstd_frames_are_one_stream() -> None:
    # Inspect begins a new frame every 200 MiB.
    import io

    packed = b"".join(pyarrow.compress(text, codec="zstd", asbytes=True) for text in (b"first ", b"second"))
    assert zstd_stream(io.BytesIO(packed), Path("x")).read() == b"first second"


REQUEST = {"model": "m", "messages": [{"role": "user", "content": "How many?"}], "temperature": 1}


def completion(text: str | None = "Three.", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text, **message}}
    usage = {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
    return {"id": "c", "object": "chat.completion", "created": 1_700_000_000, "model": "m-1", "choices": [choice]} | {
        "usage": usage
    }


def asked(custom_id: str, **body: Any) -> dict[str, Any]:
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": {**REQUEST, **body}}


def answered(custom_id: str, body: Any, status: int = 200) -> dict[str, Any]:
    return {"custom_id": custom_id, "response": {"status_code": status, "body": body}, "error": None}


def test_a_batch_is_joined_by_custom_id_whose_end_is_the_run(tmp_path: Path) -> None:
    other = [{"role": "user", "content": "How few?"}]
    write_lines(
        tmp_path / "in.jsonl",
        [asked("many-run-1"), asked("many-run-0"), asked("few-run-0", messages=other), asked("few-run-1")],
    )
    rows = [answered("many-run-0", completion("a")), answered("many-run-1", {"error": {"message": "no"}}, 400)]
    late = {"custom_id": "few-run-0", "response": None, "error": {"code": "batch_expired", "message": "late"}}
    write_lines(tmp_path / "out.jsonl", [*rows, late])
    report = ImportReport()
    runs = read(tmp_path / "in.jsonl", tmp_path / "out.jsonl", report=report)
    # few-… stands for two texts, so it names no question, and many-… and few-run-1 are one.
    assert [(run.question, run.run, run.text, run.status) for run in runs] == [
        ("q1", 0, "a", "answered"),
        ("q1", 1, "", "failed"),
    ]
    assert runs[0].usage == completion()["usage"]
    assert runs[0].started_at == "2023-11-14T22:13:20.000+00:00"
    assert runs[1].error == {"class": "http", "message": "no", "status": 400}
    assert report.left_out_counts["requests that were not executed (batch_expired)"] == 1
    assert report.notes["requests have no result"] == 1


def test_a_batch_of_the_responses_api_with_choices_and_system_messages(tmp_path: Path) -> None:
    body = {"model": "m", "instructions": "Be brief.", "input": "How many?", "max_output_tokens": 9}
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Three."}]}]
    response = {
        "id": "r",
        "object": "response",
        "status": "completed",
        "model": "m-1",
        "output": output,
        "usage": None,
    }
    other = {**body, "instructions": "Be long."}
    write_lines(
        tmp_path / "in.jsonl",
        [{"custom_id": n, "url": "/v1/responses", "body": b} for n, b in (("a", body), ("b", other))],
    )
    write_lines(tmp_path / "out.jsonl", [answered("a", response), answered("b", response)])
    first, second = read(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert (first.text, first.status) == ("Three.", "answered")
    assert first.request == {"max_output_tokens": 9, "system": "Be brief."}
    assert second.request["system"] == "Be long."
    assert first.messages == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}]


def test_choices_of_one_request_are_runs_without_numbers(tmp_path: Path) -> None:
    two = completion("a")
    two["choices"].append({"index": 1, "finish_reason": "length", "message": {"role": "assistant", "content": "b"}})
    write_lines(tmp_path / "in.jsonl", [asked("q-0", n=2)])
    write_lines(tmp_path / "out.jsonl", [answered("q-0", two)])
    runs = read(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert [(run.text, run.status, run.run, run.usage is None) for run in runs] == [
        ("a", "answered", None, False),
        ("b", "truncated", None, True),
    ]


def test_one_custom_id_for_two_requests_is_refused(tmp_path: Path) -> None:
    write_lines(tmp_path / "in1.jsonl", [asked("q-0")])
    write_lines(tmp_path / "in2.jsonl", [asked("q-0", temperature=0)])
    write_lines(tmp_path / "out.jsonl", [answered("q-0", completion())])
    with pytest.raises(SourceError, match="stands for two different requests"):
        read(tmp_path / "in1.jsonl", tmp_path / "in2.jsonl", tmp_path / "out.jsonl")


@pytest.mark.parametrize("form", ["lines", "list", "page", "pairs"])
def test_stored_completions_in_each_form(tmp_path: Path, form: str) -> None:
    stored = {**completion(), "temperature": 0.5, "messages": REQUEST["messages"], "metadata": {"run": "1"}}
    named = {**stored, "metadata": {"question_id": "many", "run": "0", "truth": "3"}}
    path = tmp_path / "stored.json"
    if form == "lines":
        write_lines(path, [stored, named])
    elif form == "pairs":
        pairs = [
            {"request": {**REQUEST, "temperature": 0.5}, "response": completion(), "metadata": s["metadata"]}
            for s in (stored, named)
        ]
        write_lines(path, pairs)
    else:
        rows = [stored, named]
        page = {"object": "list", "data": rows, "has_more": True}
        path.write_text(json.dumps(rows if form == "list" else page, indent=1 if form == "list" else None))
    report = ImportReport()
    runs = read(path, report=report)
    # The one without a name asks the same text as the other.
    assert [(run.question, run.run, run.text, run.temperature, run.truth) for run in runs] == [
        ("many", 1, "Three.", 0.5, None),
        ("many", 0, "Three.", 0.5, "3"),
    ]
    assert any("further pages" in note for note in report.notes) == (form == "page")


def test_lm_eval_without_its_results_file_needs_the_model(tmp_path: Path) -> None:
    source = next((LOGS / "lm-eval").glob("samples_*"))
    shutil.copy(source, tmp_path / "samples_four.jsonl")
    with pytest.raises(SourceError, match=r"which model was asked.*--model"):
        read(tmp_path / "samples_four.jsonl")
    runs = read(tmp_path / "samples_four.jsonl", model="m")
    assert {run.model for run in runs} == {"m"}
    # Nothing says which response the filter kept, so no mark is a run's.
    assert not any("exact_match,first" in run.metrics for run in runs)


def test_promptfoo_lines_alone_do_not_say_the_temperature() -> None:
    runs = read(LOGS / "promptfoo" / "promptfoo.jsonl")
    assert {(run.temperature, run.request["provider"]) for run in runs} == {(None, "warm"), (None, "cold")}


def broken(tmp_path: Path) -> list[tuple[list[Path], str]]:
    cut = tmp_path / "cut.eval"
    cut.write_bytes(log(".eval").read_bytes()[:-2000])
    text = log(".json").read_text("utf-8")
    cut_json = tmp_path / "cut.json"
    cut_json.write_text(text[: len(text) // 2], "utf-8")
    foreign = tmp_path / "foreign.eval"
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("a.txt", "a")
    damaged = tmp_path / "damaged.eval"
    whole = bytearray(log(".eval").read_bytes())
    at = whole.index(b"samples/")
    whole[at + 60 : at + 400] = bytes(340)
    damaged.write_bytes(whole)
    choices = write_lines(
        tmp_path / "samples_mc.jsonl", [{"doc_id": 0, "doc": {}, "arguments": [], "resps": [[[-1.5, False]]]}]
    )
    requests = write_lines(tmp_path / "in.jsonl", [asked("q-0")])
    results = next((LOGS / "lm-eval").glob("results_*"))
    return [
        ([cut], "broken zip archive"),
        ([cut_json], "ends in the middle"),
        ([foreign], "without an Inspect log"),
        ([damaged], "cannot be read"),
        ([choices], "which model|log-likelihoods"),
        ([requests], "requests without results"),
        ([results], "results without responses"),
        ([LOGS / "promptfoo" / "promptfooconfig.yaml"], "configuration without results"),
    ]


@pytest.mark.parametrize("which", range(8))
def test_a_wrong_file_is_one_line_and_exit_code_2(
    tmp_path: Path, which: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dsqa.cli.app import main

    paths, said = broken(tmp_path)[which]
    out = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["dsqa", "import", "--strict", *map(str, paths), "--out", str(out)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    lines = printed.err.strip().splitlines()
    assert ended.value.code == 2
    assert printed.out == ""
    assert len(lines) == 1, lines
    assert str(paths[0]) in lines[0]
    assert any(word in lines[0] for word in said.split("|"))
    assert not out.exists()
