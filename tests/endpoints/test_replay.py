"""Recorded runs played back: the same answers, whatever the order, without key, network or clock."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import socket

import pytest

from dsqa.endpoints import PermanentFailure, Scope, open_endpoint
from dsqa.errors import EndpointError, RecordError
from dsqa.records import read_records
from dsqa.sampling import prepare_study, sample_study
from dsqa.study.sections import EndpointConfig
from tests.sampling.studies import prepare, study_config, write_bank
from tests.support.server import FaultServer, completion, error


def script(seen):
    """Every kind of answer, by the number of the request."""
    kinds = {
        0: None,
        1: error(400, "filtered", "content_filter"),
        2: completion(2, "m", "cut", finish_reason="length"),
        3: completion(3, "m", None, refusal="No."),
        4: completion(4, "m", "", reasoning_content="hm"),
        5: completion(5, "m", "a lone \ud83d surrogate"),
        6: error(400, "maximum context length is 8", "context_length_exceeded"),
        7: completion(7, "m", "x" * 100_000),
    }
    if "temperature" in seen.body and seen.body["model"] == "hot":
        return error(400, "Unsupported parameter: 'temperature'", "unsupported_parameter")
    return kinds[seen.number % 8]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A study with answers of every kind."""
    folder = tmp_path_factory.mktemp("recorded")
    with FaultServer(script) as server:
        endpoints = {"default": {"base_url": server.url, "api_key_env": None}}
        study = prepare(folder, server.url, models=["m", "hot"], runs=5, endpoints=endpoints, request=REQUEST)
        sample_study(study)
    return study


REQUEST = {"max_tokens": 50, "seed": "per-run"}


def replayed(folder, source, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    write_bank(folder)
    settings = {
        "models": ["m", "hot"],
        "runs": 5,
        "request": REQUEST,
        "endpoints": {"default": {"kind": "replay", "records": str(source)}},
        **changes,
    }
    study = prepare_study(study_config("", **settings), folder / "study.yaml", folder / "runs" / "small")
    sample_study(study)
    return study


def rows(study):
    return {r.key: r.to_dict() for r in read_records(study.records_path)}


def test_recording_through_replay_gives_the_same_records(recorded, tmp_path):
    before, after = rows(recorded), rows(replayed(tmp_path, recorded.root))
    assert len(before) == 60
    assert {r["status"] for r in before.values()} == {
        "answered", "filtered", "truncated", "refused", "empty", "failed"
    }  # fmt: skip
    for row in (*before.values(), *after.values()):
        base_url = row["condition"].pop("base_url")
        assert base_url.startswith(("http", "replay:"))
        row.pop("versions")
    assert after == before


def test_replay_of_a_replay_is_byte_for_byte_the_same_file(recorded, tmp_path):
    first = replayed(tmp_path / "a", recorded.root)
    second = replayed(tmp_path / "b", recorded.root)
    assert first.records_path.read_bytes() == second.records_path.read_bytes()


def test_the_order_of_the_records_does_not_matter(recorded, tmp_path):
    first = replayed(tmp_path / "a", recorded.root)
    other = tmp_path / "records.jsonl"
    other.write_text("".join(reversed(recorded.records_path.read_text().splitlines(keepends=True))))
    second = replayed(tmp_path / "b", other)
    mine, theirs = rows(first), rows(second)
    for row in (*mine.values(), *theirs.values()):
        row["condition"].pop("base_url")
    assert mine == theirs


def test_neither_key_nor_network_is_needed(recorded, tmp_path, monkeypatch):
    monkeypatch.delenv("DSQA_TEST_KEY")

    def refuse(*_args, **_kwargs):
        raise AssertionError("a replay opens no connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert len(rows(replayed(tmp_path, recorded.root))) == 60


def test_packed_records_and_a_file_by_name(recorded, tmp_path):
    packed = tmp_path / "study" / "records.jsonl.gz"
    packed.parent.mkdir()
    with gzip.open(packed, "wb") as handle, recorded.records_path.open("rb") as plain:
        shutil.copyfileobj(plain, handle)
    for place in (packed, packed.parent):
        assert len(rows(replayed(tmp_path / place.name, place))) == 60


def ask(source, request, run=0, name="default"):
    async def main():
        async with open_endpoint(name, EndpointConfig(kind="replay", records=str(source)), timeout=1) as endpoint:
            try:
                return await endpoint.ask_many(request, run=run)
            except PermanentFailure as failure:
                return failure

    return asyncio.run(main())


def first_answer(study, **wanted):
    return next(
        r
        for r in read_records(study.records_path)
        if r.status == "answered" and all(r.condition[name] == value for name, value in wanted.items())
    )


def test_a_run_is_found_by_what_was_asked_and_its_number(recorded):
    record = first_answer(recorded, model="m")
    (reply,) = ask(recorded.root, record.request, record.run)
    assert (reply.text, reply.usage, reply.seconds) == (record.text, record.usage, record.seconds)
    assert (reply.started_at, reply.retries, reply.response_id) == (record.started_at, 0, record.response_id)


@pytest.mark.parametrize(
    ("change", "run", "says"),
    [
        ({}, 5, "run 5 of a question to 'm' at temperature 0.2; of that it has 5 runs"),
        ({"model": "n"}, 0, "a question to 'n' at temperature 0.2; it was asked of 'hot' at 0.2"),
        ({"temperature": 0.9}, 0, "at temperature 0.9; it was asked of"),
        ({"messages": [{"role": "user", "content": "?"}]}, 0, "no run of it was asked these messages"),
        ({"max_tokens": 51}, 0, "with other request parameters"),
    ],
)
def test_what_is_not_recorded_is_said_and_ends_everything(recorded, change, run, says):
    record = first_answer(recorded, model="m", temperature=0.2)
    failure = ask(recorded.root, {**record.request, **change}, run)
    assert failure.scope is Scope.ENDPOINT
    assert says in failure.message
    assert str(recorded.records_path) in failure.message


def test_a_study_that_asks_for_more_stops_and_keeps_what_there_was(recorded, tmp_path):
    with pytest.raises(EndpointError, match="holds no such run: run 5"):
        replayed(tmp_path, recorded.root, runs=6)
    kept = list(read_records(tmp_path / "runs" / "small" / "records.jsonl"))
    assert 0 < len(kept) <= 60
    assert all(r.run < 5 for r in kept)


def test_choices_are_the_runs_that_follow(recorded, tmp_path):
    cell = first_answer(recorded, model="m").to_dict()
    path = tmp_path / "records.jsonl"
    texts = ["a", "b", "c"]
    path.write_text(
        "".join(json.dumps({**cell, "run": k, "status": "answered", "text": t}) + "\n" for k, t in enumerate(texts))
    )
    request = {**cell["request"], "n": 5}
    assert [r.text for r in ask(path, request, 1)] == ["b", "c"]


def test_two_endpoints_of_one_name_each_play_their_own(recorded, tmp_path):
    path = tmp_path / "records.jsonl"
    cell = first_answer(recorded, model="m").to_dict()
    both = [
        {**cell, "text": name, "condition": {**cell["condition"], "endpoint": name}} for name in ("here", "there")
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in both))
    for name in ("here", "there"):
        (reply,) = ask(path, cell["request"], cell["run"], name)
        assert reply.text == name


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "no such records to replay"), (b"{torn\n", "no record"), (b"\x1f\x8b nonsense", "read")],
)
def test_records_that_cannot_be_played_are_named(tmp_path, content, says):
    path = tmp_path / ("records.jsonl.gz" if content and content.startswith(b"\x1f") else "records.jsonl")
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordError, match=says) as caught:
        ask(path, {"model": "m", "messages": []})
    assert str(path) in str(caught.value)


def test_an_empty_file_and_a_line_still_being_written(recorded, tmp_path):
    path = tmp_path / "records.jsonl"
    record = first_answer(recorded, model="m")
    path.write_text("")
    assert isinstance(ask(path, record.request), PermanentFailure)
    line = json.dumps(record.to_dict())
    path.write_text(f"{line}\n\n{line[:50]}")
    assert ask(path, record.request, record.run)[0].text == record.text
