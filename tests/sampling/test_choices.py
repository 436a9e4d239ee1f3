"""Several runs to a request: each its own record, usage once, and back to one where there is no such thing."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from dsqa.prices import cost_of, load_prices
from dsqa.records import RunIndex, read_records
from dsqa.sampling import sample_study
from dsqa.sampling.plan import CellRequest, plan_requests
from tests.sampling.studies import prepare
from tests.support.server import Fault, FaultServer, Seen, completion, error

pytestmark = pytest.mark.usefixtures("quick_backoff")

PRICES = "prices: [{models: m, input: 1, output: 10}]"


def answer(seen: Seen, count: int | None = None) -> dict:
    count = seen.body.get("n", 1) if count is None else count
    body = completion(seen.number, "m", "")
    body["choices"] = [
        {"index": k, "finish_reason": "stop", "message": {"role": "assistant", "content": f"{seen.number}.{k}"}}
        for k in range(count)
    ]
    body["usage"] = {"prompt_tokens": 100, "completion_tokens": 20 * count}
    return body


def study(folder, server, **changes):
    settings = {"concurrency": 2, "timeout": 5, "retries": 1, "choices_per_request": 4, **changes.pop("sampling", {})}
    return prepare(folder, server.url, sampling=settings, **changes)


def runs_of(folder):
    return list(read_records(folder.records_path))


def test_each_choice_is_a_run_and_usage_and_cost_are_counted_once(tmp_path):
    (tmp_path / "prices.yaml").write_text(PRICES)
    with FaultServer(answer) as server:
        folder = study(tmp_path, server, runs=10)
        summary = sample_study(folder)
        assert [seen.body.get("n") for seen in server.seen].count(4) == 6 * 2
        assert sorted({seen.body.get("n") for seen in server.seen}) == [2, 4]
        assert sample_study(folder).new == 0
        assert len(server.seen) == 18
    records = runs_of(folder)
    assert summary.new == len(records) == 60
    assert summary.requests == 18
    assert set(Counter((r.question_id, r.condition_id) for r in records).values()) == {10}
    assert len({r.text for r in records}) == 60
    assert summary.tokens == sum((r.usage or {}).get("completion_tokens", 0) for r in records) == 60 * 20
    prices = load_prices(tmp_path / "prices.yaml")
    by_hand = (18 * 100 * 1 + 60 * 20 * 10) / 1e6
    assert sum(cost_of(r, prices).amount for r in records) == pytest.approx(by_hand)
    assert summary.money == {"USD": pytest.approx(by_hand)}
    for r in records:
        assert r.choice["of"] == r.request["n"]
        assert (r.usage is None) == (r.choice["index"] > 0)


def test_a_resumed_study_asks_only_for_what_is_missing(tmp_path):
    with FaultServer(answer) as server:
        folder = study(tmp_path, server, runs=10)
        assert sample_study(folder, limit=13).new == 13
        sample_study(folder)
        assert sum(seen.body.get("n", 1) for seen in server.seen) == 60
    assert set(Counter((r.question_id, r.condition_id) for r in runs_of(folder)).values()) == {10}


def test_an_endpoint_that_refuses_n_is_asked_for_one_run_at_a_time(tmp_path, caplog):
    def script(seen):
        return error(400, "n must be 1", "invalid_value") if "n" in seen.body else None

    with FaultServer(script) as server:
        folder = study(tmp_path, server)
        summary = sample_study(folder)
    assert (summary.new, summary.failed) == (24, 0)
    refused = [seen for seen in server.seen if "n" in seen.body]
    assert 1 <= len(refused) <= 4, "said once for each condition, give or take what was in flight"
    assert "'m' is asked for one run at a time" in caplog.text
    assert all(r.choice is None for r in runs_of(folder))


def test_an_endpoint_that_ignores_n_loses_no_run(tmp_path):
    with FaultServer(lambda seen: answer(seen, 1)) as server:
        folder = study(tmp_path, server)
        summary = sample_study(folder)
        assert summary.new == 24
        assert len(server.seen) == 24, "what came was kept, only the rest was asked again"
    assert {r.usage["completion_tokens"] for r in runs_of(folder)} == {20}


@pytest.mark.parametrize("given", [3, 6])
def test_fewer_choices_than_asked_for_are_asked_again_and_more_are_left(tmp_path, given):
    with FaultServer(lambda seen: answer(seen, min(given, seen.body.get("n", 1)) if given < 4 else given)) as server:
        folder = study(tmp_path, server, runs=8)
        assert sample_study(folder).new == 48
    records = runs_of(folder)
    assert set(Counter((r.question_id, r.condition_id) for r in records).values()) == {8}
    assert len({r.text for r in records}) == 48


def test_a_request_that_fails_for_all_its_choices_fails_no_run_by_itself(tmp_path):
    def script(seen):
        if "1 plus 1" in seen.prompt and "n" in seen.body:
            return error(500, "too much at once")
        return answer(seen)

    with FaultServer(script) as server:
        folder = study(tmp_path, server)
        summary = sample_study(folder)
    assert (summary.new, summary.failed) == (24, 0)
    assert all(r.choice is None for r in runs_of(folder) if r.question_id == "q1")


def test_a_content_filter_is_found_by_each_run_for_itself(tmp_path):
    def script(seen):
        return error(400, "policy", "content_filter") if "1 plus 1" in seen.prompt else answer(seen)

    with FaultServer(script) as server:
        folder = study(tmp_path, server)
        sample_study(folder)
        asked = [seen for seen in server.seen if "1 plus 1" in seen.prompt]
    filtered = [r for r in runs_of(folder) if r.status == "filtered"]
    assert len(filtered) == 8
    assert len(asked) == 2 + 8
    assert all(r.choice is None for r in filtered)


def test_a_body_that_breaks_off_loses_all_its_choices_and_they_are_asked_again(tmp_path):
    broken = []

    def script(seen):
        if not broken:
            broken.append(seen)
            return Fault("drop")
        return answer(seen)

    with FaultServer(script) as server:
        folder = study(tmp_path, server)
        summary = sample_study(folder)
    assert (summary.new, summary.failed, summary.retried) == (24, 0, 1)


def test_runs_with_seeds_of_their_own_have_requests_of_their_own(tmp_path):
    with FaultServer(answer) as server:
        folder = study(tmp_path, server, request={"max_tokens": 50, "seed": "per-run"})
        sample_study(folder)
        assert all("n" not in seen.body for seen in server.seen)
        seeds = [seen.body["seed"] for seen in server.seen]
    assert len(set(seeds)) == 24
    assert all(isinstance(seed, int) and 0 <= seed < 2**31 for seed in seeds)
    by_key = {r.key: r.request["seed"] for r in runs_of(folder)}
    with FaultServer(answer) as server:
        (tmp_path / "again").mkdir()
        again = study(tmp_path / "again", server, request={"max_tokens": 50, "seed": "per-run"})
        sample_study(again)
    assert {r.key: r.request["seed"] for r in runs_of(again)} == by_key, "seeds depend on nothing but study and run"


def test_a_block_holds_as_many_runs_of_every_cell_as_a_request():
    design = [CellRequest(f"q{k}", "c", "0" * 16, "default", {}, {}) for k in range(5)]
    plan = list(plan_requests(design, 10, 3, RunIndex(), choices=4))
    assert [p.runs for p in plan] == [(0, 1, 2, 3)] * 5 + [(4, 5, 6, 7)] * 5 + [(8, 9)] * 5
    assert all(len({p.cell.question_id for p in plan[k : k + 5]}) == 5 for k in (0, 5, 10))
    limited = list(plan_requests(design, 10, 3, RunIndex(), limit=7, choices=4))
    assert [len(p.runs) for p in limited] == [4, 3]


def test_choices_are_written_down_with_the_session(tmp_path):
    with FaultServer(answer) as server:
        folder = study(tmp_path, server)
        sample_study(folder, limit=8)
    session = json.loads((folder.root / "sessions.jsonl").read_text())
    assert session["settings"] == {"limit": 8, "choices_per_request": 4}
    assert session["requests"] == 2
