"""Requests and tokens a minute, rate-limit headers, and concurrency that adapts."""

from __future__ import annotations

import asyncio
import heapq
import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.errors import EndpointError, StudyError
from dsqa.prices import load_prices
from dsqa.records import read_records
from dsqa.sampling import bucket as bucket_module
from dsqa.sampling import read_sessions, sample_study
from dsqa.sampling.allowance import Allowance, allowances
from dsqa.sampling.bucket import Bucket
from dsqa.sampling.concurrency import Adaptive, Pinned
from dsqa.sampling.gate import Gate
from dsqa.sampling.history import History, Need
from dsqa.sampling.plan import CellRequest, PlannedRequest
from dsqa.study.sections import EndpointLimits
from tests.sampling.studies import prepare, study_config
from tests.support.server import Fault, FaultServer, completion, error

pytestmark = pytest.mark.usefixtures("quick_backoff")


class Clock:
    """Time that passes only where somebody waits."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    async def wait_unless(self, stop, seconds):
        self.now += seconds
        await asyncio.sleep(0)


@settings(deadline=None, max_examples=60)
@given(
    per_minute=st.floats(0.5, 100_000),
    sizes=st.lists(st.floats(0.1, 500), min_size=1, max_size=80),
    workers=st.integers(1, 9),
)
def test_no_minute_sees_more_than_the_limit_and_what_the_bucket_holds(per_minute, sizes, workers):
    clock, sent = Clock(), []

    async def work(bucket, queue, stop):
        while queue:
            size = queue.pop()
            await bucket.take(size, stop)
            sent.append((clock.now, size))

    async def main():
        bucket, queue, stop = Bucket(per_minute, clock), list(sizes), asyncio.Event()
        await asyncio.gather(*(work(bucket, queue, stop) for _ in range(workers)))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bucket_module, "wait_unless", clock.wait_unless)
        asyncio.run(main())
    assert len(sent) == len(sizes)
    holds = max(1.0, per_minute / 600)
    for number, (begin, _) in enumerate(sent):
        total, largest = 0.0, 0.0
        for at, size in sent[number:]:
            total, largest = total + size, max(largest, size)
            # One request larger than the bucket may go out on credit; it is paid for before the next.
            assert total <= (at - begin) * per_minute / 60 + holds + largest + 1e-6


def test_the_rate_is_reached_and_not_only_kept(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(bucket_module, "wait_unless", clock.wait_unless)

    async def main():
        bucket, stop = Bucket(600, clock), asyncio.Event()
        for _ in range(601):
            await bucket.take(1, stop)

    asyncio.run(main())
    assert clock.now == pytest.approx(60, abs=0.2)


def test_what_was_not_used_is_given_back(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(bucket_module, "wait_unless", clock.wait_unless)

    async def main(used):
        bucket, stop = Bucket(60_000, clock), asyncio.Event()
        begin = clock.now
        for _ in range(50):
            await bucket.take(1000, stop)
            bucket.give_back(1000 - used)
        return clock.now - begin

    # 1,000 tokens a second: 50 requests of 1,000 take 50 s, of 100 take 5.
    assert asyncio.run(main(1000)) == pytest.approx(50, abs=2)
    assert asyncio.run(main(100)) == pytest.approx(5, abs=1)
    # An estimate that was too low is made up for.
    assert asyncio.run(main(2000)) == pytest.approx(100, abs=4)


def test_waiting_ends_when_sampling_stops():
    async def main():
        bucket, stop = Bucket(1), asyncio.Event()
        await bucket.take(1, stop)
        asyncio.get_running_loop().call_later(0.05, stop.set)
        begun = time.monotonic()
        await asyncio.gather(*(bucket.take(1, stop) for _ in range(3)))
        return time.monotonic() - begun

    assert asyncio.run(main()) < 20


NOW = 1_780_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, []),
        (
            {
                "x-ratelimit-limit-requests": "60",
                "x-ratelimit-remaining-requests": "59",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-limit-tokens": "150000",
                "x-ratelimit-remaining-tokens": "149984",
                "x-ratelimit-reset-tokens": "6m0s",
            },
            [Allowance("requests", 59, 1, 60), Allowance("tokens", 149984, 360, 150000)],
        ),
        (
            {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20ms"},
            [Allowance("requests", 0, 0.02)],
        ),
        (
            {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3.5s"},
            [Allowance("tokens", 0, 3723.5)],
        ),
        # OpenRouter: milliseconds since 1970; GitHub: seconds since 1970.
        (
            {"x-ratelimit-limit": "20", "x-ratelimit-remaining": "3", "x-ratelimit-reset": "1780000012000"},
            [Allowance("requests", 3, 12, 20)],
        ),
        ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "1780000005"}, [Allowance("requests", 3, 5)]),
        (
            {
                "anthropic-ratelimit-input-tokens-limit": "80000",
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2026-05-28T20:27:00Z",
            },
            [Allowance("tokens", 0, 1779999620 + 400 - NOW, 80000)],
        ),
        (
            {"ratelimit-limit": "100", "ratelimit-remaining": "7", "ratelimit-reset": "30"},
            [Allowance("requests", 7, 30, 100)],
        ),
        ({"ratelimit": '"default";r=50;t=30'}, [Allowance("requests", 50, 30)]),
        # No limit, nonsense, half of it: nothing to go by.
        ({"x-ratelimit-remaining-requests": "-1", "x-ratelimit-reset-requests": "1s"}, []),
        ({"x-ratelimit-remaining-requests": "0"}, []),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "soon"}, []),
        ({"x-ratelimit-remaining-requests": "many", "x-ratelimit-reset-requests": "1s"}, []),
    ],
)
def test_rate_limit_headers_are_read(headers, expected):
    assert allowances(headers, now=NOW) == expected


@pytest.mark.parametrize(
    ("allowance", "units", "seconds"),
    [
        (Allowance("requests", 1, 60, 100), 1, 0),
        (Allowance("requests", 0, 60, 100), 1, 60),
        (Allowance("requests", 0, 60), 1, 60),
        # 1,000 of 10,000 left, 9 s until it is full: 500 more are there after half a second.
        (Allowance("tokens", 1000, 9, 10_000), 1500, 0.5),
        (Allowance("tokens", 1000, 9), 1500, 9),
        (Allowance("tokens", 1000, 9, 1200), 1500, 9),
    ],
)
def test_how_long_an_allowance_makes_one_wait(allowance, units, seconds):
    assert allowance.wait_for(units) == pytest.approx(seconds)


def test_requests_per_minute_are_kept_by_all_workers_together(tmp_path):
    with FaultServer() as server:
        limits = {"base_url": server.url, "api_key_env": "DSQA_TEST_KEY", "requests_per_minute": 600}
        folder = prepare(
            tmp_path, server.url, runs=5, endpoints={"default": limits}, sampling={"concurrency": 16, "timeout": 30}
        )
        begun = time.monotonic()
        assert sample_study(folder).new == 30
        took = time.monotonic() - begun
        at = [seen.at for seen in server.seen]
    # 10 a second: one at once, 29 at a tenth of a second each.
    assert took >= 2.8
    assert at[-1] - at[0] >= 2.5
    # What waits on a busy machine may arrive in a bunch; more than two seconds' worth in one would be no limit.
    assert max(sum(a <= b < a + 1 for b in at) for a in at) <= 20


def test_tokens_per_minute_count_what_is_set_aside_and_then_what_was_used(tmp_path):
    def script(seen):
        answer = completion(seen.number, "m", "short")
        answer["usage"] = {"prompt_tokens": 40, "completion_tokens": 60}
        return answer

    with FaultServer(script) as server:
        limits = {"base_url": server.url, "api_key_env": "DSQA_TEST_KEY", "tokens_per_minute": 60_000}
        folder = prepare(
            tmp_path,
            server.url,
            runs=5,
            endpoints={"default": limits},
            request={"max_tokens": 4000},
            sampling={"concurrency": 1, "timeout": 30},
        )
        begun = time.monotonic()
        sample_study(folder)
        took = time.monotonic() - begun
    # 1,000 a second; 30 requests used 3,000, and would have taken 120 s at the 4,040 that each set aside.
    assert took >= 2.5
    assert took < 60


def test_an_endpoint_that_has_nothing_left_is_not_asked_until_it_has(tmp_path):
    def script(seen):
        if seen.number == 3:
            headers = {
                "x-ratelimit-limit-requests": "3",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1.2s",
            }
            return Fault(body=json.dumps(completion(3, "m", "last one")), headers=headers)
        return None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": 1, "timeout": 30})
        summary = sample_study(folder)
        at = [seen.at for seen in server.seen]
    assert summary.retried == 0, "it never had to refuse"
    assert at[3] - at[2] >= 1.2


def test_a_model_that_is_held_back_does_not_hold_the_others_up():
    def planned(model):
        return PlannedRequest(CellRequest("q", model, "0" * 16, "default", {"model": model}, {}), (0,))

    async def main():
        gate, stop = Gate(EndpointLimits(), "http://x/v1", History(load_prices()), None), asyncio.Event()
        gate.pause(planned("other"), 3600)
        gate.learn(planned("third"), {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "60s"})
        waiting = [asyncio.create_task(gate.enter(planned(name), stop)) for name in ("other", "third")]
        free = await asyncio.wait_for(gate.enter(planned("m"), stop), 30)
        done, _ = await asyncio.wait(waiting, timeout=0.2)
        stop.set()
        return free, len(done), await asyncio.gather(*waiting)

    assert asyncio.run(main()) == (Need(1), 0, [None, None])


def test_an_endpoint_that_asks_for_hours_ends_the_session_with_nothing_marked_failed(tmp_path):
    def script(seen):
        return error(429, "daily quota", headers={"Retry-After": "7200"}) if seen.number > 5 else None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": 1, "timeout": 5})
        begun = time.monotonic()
        with pytest.raises(EndpointError, match="asks to wait 2 hours: HTTP 429: daily quota"):
            sample_study(folder)
        assert time.monotonic() - begun < 30
    assert [r.status for r in read_records(folder.records_path)] == ["answered"] * 5


@pytest.mark.parametrize("reset", ["99999h", "359996400", "2126-01-01T00:00:00Z"])
def test_headers_that_name_hours_end_the_session_with_every_answer_kept(tmp_path, reset):
    def script(seen):
        answer = json.dumps(completion(seen.number, "m", "last one"))
        headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": reset}
        return Fault(body=answer, headers=headers) if seen.number == 5 else None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": 1, "timeout": 5})
        begun = time.monotonic()
        with pytest.raises(EndpointError, match=r"takes no more requests of 'm' for .* days"):
            sample_study(folder)
        assert time.monotonic() - begun < 30
        assert len(server.seen) == 5
    assert [r.status for r in read_records(folder.records_path)] == ["answered"] * 5


def test_headers_that_name_hours_with_the_last_answer_are_no_error(tmp_path):
    def script(seen):
        answer = json.dumps(completion(seen.number, "m", "last one"))
        headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "9h"}
        return Fault(body=answer, headers=headers) if seen.number == 24 else None

    with FaultServer(script) as server:
        folder = prepare(tmp_path, server.url, sampling={"concurrency": 1, "timeout": 5})
        assert sample_study(folder).recorded == 24


def simulate(slots: int, *, seconds: float = 300, noise: float = 0.4, refuse_over: int | None = None, seed: int = 0):
    """A server with so many slots and answers of about a second: answers a second, and the limits it came to."""
    chance, now, in_flight, answers = random.Random(seed), Clock(), 0, 0
    control = Adaptive(clock=now)
    free, events, limits = [0.0] * slots, [], []
    heapq.heapify(free)

    def send():
        nonlocal in_flight
        in_flight += 1
        if refuse_over is not None and in_flight > refuse_over:
            heapq.heappush(events, (now.now + 0.05, now.now, False))
            return
        end = max(now.now, heapq.heappop(free)) + chance.lognormvariate(0, noise)
        heapq.heappush(free, end)
        heapq.heappush(events, (end, now.now, True))

    while now.now < seconds:
        while in_flight < control.limit:
            send()
        now.now, sent_at, answered = heapq.heappop(events)
        if answered:
            control.answered(sent_at, now.now - sent_at, in_flight)
            answers += 1
        else:
            control.congested(sent_at)
        in_flight -= 1
        if now.now > seconds / 2:
            limits.append(control.limit)
    mean_seconds = 2.718281828 ** (noise**2 / 2)
    return answers / seconds * mean_seconds, min(limits), max(limits)


@pytest.mark.parametrize("slots", [1, 4, 8, 32, 100])
def test_concurrency_finds_a_server_s_slots_and_does_not_queue_far_beyond_them(slots):
    busy, least, most = simulate(slots)
    assert busy > 0.9 * slots, "the server is kept busy"
    assert least >= 0.9 * slots
    assert most <= max(2.5 * slots, 10)


def test_concurrency_stays_below_where_an_endpoint_refuses():
    busy, least, most = simulate(1000, refuse_over=50)
    assert busy > 0.7 * 50
    assert least >= 25
    assert most <= 55


def test_concurrency_grows_to_its_cap_where_nothing_stands_against_it():
    assert simulate(5000)[2] == 256


def test_concurrency_does_not_grow_where_a_rate_limit_keeps_it_from_being_used():
    control = Adaptive(clock=Clock())
    for _ in range(500):
        control.answered(sent_at=0.0, seconds=1.0, in_flight=2)
    assert control.limit == 4


def test_one_cut_for_requests_that_were_in_flight_together():
    clock = Clock()
    control = Adaptive(clock=clock)
    clock.now = 5.0
    for _ in range(4):
        control.congested(sent_at=1.0)
    assert control.limit == 2
    clock.now = 9.0
    for _ in range(9):
        clock.now += 1
        control.congested(sent_at=clock.now)
    assert control.limit == 1


def test_pinned_is_pinned():
    control = Pinned(7)
    control.answered(0.0, 1.0, 7)
    control.congested(0.0)
    assert control.limit == 7


@pytest.mark.parametrize("make", [Pinned, Adaptive])
def test_a_time_out_halves_the_limit_once_for_all_that_were_in_flight(make):
    clock = Clock()
    control = make(8, 10.0, clock)
    if make is Adaptive:
        control._window = 8.0
    for _ in range(8):
        clock.now = 10.0
        control.congested(sent_at=0.0, timed_out=True)
    assert control.limit == 4
    # Answers that take 6 s of 10 leave no room for a fifth request, answers of 2 s do.
    for seconds, limit in ((6.0, 4), (2.0, 5)):
        for _ in range(16):
            clock.now += seconds / 4
            control.answered(clock.now - seconds if make is Pinned else clock.now, seconds, control.limit)
            if control.limit != 4:
                break
        assert control.limit == limit


def test_auto_meets_an_endpoint_that_takes_eight_at_a_time(tmp_path):
    def script(seen):
        return error(429) if server.in_flight > 8 else None

    with FaultServer(script, latency=0.02) as server:
        folder = prepare(tmp_path, server.url, runs=60, sampling={"concurrency": "auto", "timeout": 30, "retries": 8})
        summary = sample_study(folder)
        assert summary.failed == 0
        assert summary.new == 360
        assert server.most_in_flight <= 20
    session = read_sessions(folder.root)[-1]
    assert 4 < session.concurrency["default"] <= 20
    assert session.requests == len(server.seen) == 360 + session.retries


def test_an_endpoint_s_own_concurrency_goes_before_the_study_s(tmp_path):
    with FaultServer(latency=0.05) as server:
        endpoint = {"base_url": server.url, "api_key_env": "DSQA_TEST_KEY", "concurrency": 2}
        folder = prepare(tmp_path, server.url, endpoints={"default": endpoint})
        sample_study(folder)
    assert server.most_in_flight == 2


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sampling": {"concurrency": "fast"}}, "must be auto, or a whole number from 1 to 1024"),
        ({"sampling": {"concurrency": 0}}, "must be auto, or a whole number from 1 to 1024"),
        ({"sampling": {"concurrency": True}}, "must not be yes, no"),
        ({"endpoints": {"default": {"requests_per_minute": 0}}}, "more than 0"),
        ({"endpoints": {"default": {"tokens_per_minutes": 5}}}, "tokens_per_minute"),
        ({"request": {"n": 4}}, "choices_per_request"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, says):
    with pytest.raises(StudyError) as caught:
        study_config("http://127.0.0.1:1/v1", **changes)
    assert says in str(caught.value)
