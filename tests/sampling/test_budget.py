"""What a study took, over all its sessions, and caps that are never crossed."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.errors import EndpointError, RecordError, StudyError
from dsqa.records import read_records
from dsqa.sampling import parse_budget, read_sessions, sample_study
from dsqa.sampling.budget import Budget
from dsqa.sampling.history import Need
from dsqa.study.sections import BudgetConfig
from tests.sampling.studies import prepare, write_bank
from tests.support.server import Fault, FaultServer, completion, error

pytestmark = pytest.mark.usefixtures("quick_backoff")

OWN = "prices: [{models: [m, other], input: 100, cached_input: 50, output: 1000}]"


def script(seen):
    answer = completion(seen.number, seen.body["model"], f"answer {seen.number}")
    answer["usage"] = {
        "prompt_tokens": 40,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 10},
        "completion_tokens_details": {"reasoning_tokens": 25},
    }
    return answer


COST = (30 * 100 + 10 * 50 + 30 * 1000) / 1e6
MOST = (40 * 100 + 50 * 1000) / 1e6


@pytest.fixture
def priced(tmp_path):
    (tmp_path / "prices.yaml").write_text(OWN)
    return tmp_path


def runs_of(folder):
    return list(read_records(folder.records_path))


@settings(deadline=None, max_examples=80)
@given(
    cap=st.integers(1, 400),
    needs=st.lists(st.tuples(st.integers(1, 60), st.floats(0, 1)), min_size=1, max_size=40),
    workers=st.integers(1, 8),
)
def test_a_cap_is_never_crossed_and_never_left_unused(cap, needs, workers):
    peak, refused, taken = [0.0], [], []

    async def work(budget, queue, stop):
        while queue:
            most, share = queue.pop(0)
            if not await budget.take(Need(1, most), stop):
                refused.append(most)
                return
            taken.append(most)
            peak[0] = max(peak[0], budget.spent.tokens + budget.held.tokens)
            await asyncio.sleep(0)
            budget.settle(Need(1, most), Need(1, most * share))

    async def main():
        budget, queue = Budget(BudgetConfig(tokens=cap), "USD", Need()), list(needs)
        await asyncio.wait_for(
            asyncio.gather(*(work(budget, queue, asyncio.Event()) for _ in range(workers))), timeout=30
        )
        return budget

    budget = asyncio.run(main())
    assert peak[0] <= cap + 1e-6
    assert budget.held == Need()
    if refused:
        assert budget.used_up
        assert any(budget.spent.tokens + most > cap for most in refused)
    else:
        assert len(taken) == len(needs)


def test_waiting_for_others_ends_when_sampling_stops():
    async def main():
        budget, stop = Budget(BudgetConfig(requests=1), "USD", Need()), asyncio.Event()
        assert await budget.take(Need(1), stop)
        asyncio.get_running_loop().call_later(0.05, stop.set)
        return await asyncio.wait_for(budget.take(Need(1), stop), 30), budget.used_up

    assert asyncio.run(main()) == (False, None)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), BudgetConfig(tokens=7)),
        (("5",), BudgetConfig(money=5, tokens=7)),
        (("money=2.5,requests=10",), BudgetConfig(money=2.5, tokens=7, requests=10)),
        (("tokens=2e6", "requests=3"), BudgetConfig(tokens=2_000_000, requests=3)),
    ],
)
def test_the_command_line_s_budget_goes_before_the_study_s(texts, expected):
    assert parse_budget(texts, BudgetConfig(tokens=7)) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("much", "time=5", "money=", "money=-1", "tokens=0", "money=inf", "money=nan", "", "requests=0.5"),
        # Commas in numbers: taken for a list, money=2,50 would be a cap of 50.
        *("money=2,50", "tokens=2,500", "2,50", "money=1,money=2"),
    ],
)
def test_a_budget_that_is_none_is_refused(text):
    with pytest.raises(StudyError, match="is no budget"):
        parse_budget((text,), BudgetConfig())


def test_money_ends_sampling_before_the_cap_and_counts_over_sessions(priced):
    with FaultServer(script, latency=0.01) as server:
        folder = prepare(priced, server.url, budget={"money": 0.4}, runs=20)
        summary = sample_study(folder)
        spent = len(server.seen) * COST
        assert summary.stopped == "budget"
        assert not summary.interrupted
        assert spent <= 0.4 < spent + MOST, "as near to the cap as a request that may cost the most lets it come"
        assert summary.money["USD"] == pytest.approx(spent)
        assert "of 0.40 USD is spent" in summary.why
        again = sample_study(folder)
        assert (again.new, again.stopped) == (0, "budget")
        assert len(server.seen) * COST == pytest.approx(spent), "nothing more was sent"
        more = sample_study(folder, budget=BudgetConfig(money=0.8))
        assert more.stopped == "budget"
        assert len(server.seen) * COST <= 0.8
        assert more.money_all["USD"] == pytest.approx(len(server.seen) * COST)
        rest = sample_study(folder, budget=BudgetConfig(money=1000))
    assert (rest.recorded, rest.stopped) == (120, None)
    assert [s.how for s in read_sessions(folder.root)] == ["budget", "budget", "budget", "complete"]
    assert sum(s.tally.money["USD"] for s in read_sessions(folder.root) if s.tally.money) == pytest.approx(120 * COST)


@pytest.mark.parametrize("workers", [1, 16])
def test_tokens_and_requests_are_capped_to_the_last_one(priced, workers):
    with FaultServer(script, latency=0.01) as server:
        settings = {"concurrency": workers, "timeout": 5}
        folder = prepare(priced, server.url, sampling=settings, runs=20)
        assert sample_study(folder, budget=BudgetConfig(requests=17)).stopped == "budget"
        assert len(server.seen) == 17
        summary = sample_study(folder, budget=BudgetConfig(tokens=17 * 70 + 500))
        assert summary.stopped == "budget"
        used = len(server.seen) * 70
        assert used <= 17 * 70 + 500 < used + 90


def test_retries_are_requests_too(priced):
    with FaultServer(lambda seen: error(500) if seen.number % 2 else script(seen)) as server:
        folder = prepare(priced, server.url, sampling={"concurrency": 1, "timeout": 5, "retries": 3})
        sample_study(folder, budget=BudgetConfig(requests=10))
        assert len(server.seen) == 10
    assert len(runs_of(folder)) == 5


def test_what_broke_off_may_have_been_billed_and_is_counted_as_if(priced):
    faults = [Fault("drop"), Fault("drop")]
    lock = threading.Lock()

    def sometimes(seen):
        with lock:
            return faults.pop() if faults else script(seen)

    with FaultServer(sometimes) as server:
        folder = prepare(priced, server.url, sampling={"concurrency": 1, "timeout": 5, "retries": 5})
        summary = sample_study(folder, budget=BudgetConfig(money=0.3))
        answered = len(server.seen) - 2
    session = read_sessions(folder.root)[0]
    assert session.unsure.requests == 2
    assert 2 * 0.05 <= session.unsure.money <= 2 * 0.06
    assert answered * COST + session.unsure.money <= 0.3
    assert summary.money_all["USD"] == pytest.approx(answered * COST), "known and perhaps are kept apart"
    assert "perhaps not, on requests that broke off" in summary.why


def test_money_cannot_be_capped_where_a_price_is_unknown(priced):
    with FaultServer(script) as server:
        folder = prepare(priced, server.url, models=["m", "new-model"], budget={"money": 5})
        with pytest.raises(StudyError, match=r"the price of 'new-model' at .* is unknown") as caught:
            sample_study(folder)
        assert "prices.yaml" in caught.value.hint
        assert server.seen == []
        # Asked for alone, the other is no hindrance; nor is a cap on something else.
        from dsqa.sampling import Selection

        assert sample_study(folder, only=Selection(model=("m",)), limit=2).new == 2
        assert sample_study(folder, budget=BudgetConfig(tokens=10_000), limit=2).new == 2


def test_two_currencies_are_not_added_up(priced):
    (priced / "prices.yaml").write_text(OWN.replace("models: [m, other]", "models: m, currency: EUR"))
    with FaultServer(script) as server:
        folder = prepare(priced, server.url, budget={"money": 5})
        with pytest.raises(StudyError, match="is in USD, and the price of 'm' in EUR"):
            sample_study(folder)
        folder = prepare(priced, server.url, budget={"money": 0.2, "currency": "EUR"})
        assert sample_study(folder).stopped == "budget"


def test_without_usage_tokens_are_counted_here_and_said_to_be(priced):
    def silent(seen):
        answer = script(seen)
        del answer["usage"]
        return answer

    with FaultServer(silent) as server:
        folder = prepare(priced, server.url)
        summary = sample_study(folder, budget=BudgetConfig(tokens=400))
        assert summary.stopped == "budget"
        assert 1 < len(server.seen) < 24
    session = read_sessions(folder.root)[0]
    assert session.tally.counted_here == session.tally.runs == summary.new
    assert summary.tokens_in > 10 * summary.new


def test_no_bound_on_answers_is_made_up_for_by_what_is_seen(priced):
    with FaultServer(script) as server:
        folder = prepare(priced, server.url, request={}, budget={"tokens": 6000}, runs=30)
        sample_study(folder)
        used = len(server.seen) * 70
    # 4,096 are set aside before anything is seen, 256 after that.
    assert 5000 < used <= 6000


def test_the_account_adds_up_over_sessions_and_says_how_each_ended(priced, tmp_path):
    with FaultServer(script, latency=0.01) as server:
        folder = prepare(priced, server.url)
        sample_study(folder, limit=5)
        server.script = lambda seen: error(401, "no")
        with pytest.raises(EndpointError):
            sample_study(folder)
        server.script = script
        sample_study(folder)
    sessions = read_sessions(folder.root)
    assert [(s.session, s.how) for s in sessions] == [(1, "limit"), (2, "error"), (3, "complete")]
    assert "does not accept the key" in sessions[1].why
    assert [(s.runs_before, s.runs_after) for s in sessions] == [(0, 5), (5, 5), (5, 24)]
    assert sum(s.requests for s in sessions) == len(server.seen)
    assert sum(s.tally.tokens_reasoning for s in sessions) == 24 * 25
    assert sum(s.tally.tokens_cached for s in sessions) == 24 * 10
    assert all(s.wall_seconds > 0 and s.begun < s.ended and s.in_flight == 0 for s in sessions)
    assert not (folder.root / "session.json").exists()
    # One line a session, a table for whoever wants one.
    assert len((folder.root / "sessions.jsonl").read_text().splitlines()) == 3


def test_a_torn_line_in_the_account_is_left_behind_and_a_damaged_one_named(priced):
    with FaultServer(script) as server:
        folder = prepare(priced, server.url)
        sample_study(folder, limit=2)
        path = folder.root / "sessions.jsonl"
        whole = path.read_bytes()
        path.write_bytes(whole + whole[:100])
        sample_study(folder, limit=2)
        assert [s.session for s in read_sessions(folder.root)] == [1, 2]
        path.write_bytes(b"nonsense\n" + whole)
        with pytest.raises(RecordError) as caught:
            sample_study(folder, limit=2)
        assert caught.value.line == 1


def test_a_study_recorded_before_there_was_an_account_has_a_cost_all_the_same(priced):
    with FaultServer(script) as server:
        folder = prepare(priced, server.url)
        sample_study(folder, limit=10)
        (folder.root / "sessions.jsonl").unlink()
        summary = sample_study(folder, budget=BudgetConfig(requests=15))
        assert len(server.seen) == 15
    assert summary.money_all["USD"] == pytest.approx(15 * COST)


def test_the_account_holds_plain_data(priced):
    write_bank(priced)
    with FaultServer(script) as server:
        folder = prepare(priced, server.url, budget={"money": 0.1})
        sample_study(folder)
    row = json.loads((folder.root / "sessions.jsonl").read_text())
    assert row["how"] == "budget"
    assert row["settings"] == {"budget": {"money": 0.1}}
    assert row["tally"]["money"] == {"USD": pytest.approx(row["tally"]["runs"] * COST)}
    assert row["held"] == {"requests": 0, "tokens": 0.0, "money": 0.0}
