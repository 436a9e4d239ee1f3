"""A server that is slower than what it is asked: fewer at once, nothing worked on for nobody, slow told from dead."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest
from aiohttp import web

from dsqa.endpoints import PassingFailure, open_endpoint
from dsqa.records import read_records
from dsqa.sampling import read_sessions, sample_study
from dsqa.sampling.progress import SamplingState
from dsqa.study.sections import EndpointConfig
from tests.sampling.studies import prepare
from tests.support.server import completion

pytestmark = pytest.mark.usefixtures("quick_backoff")
STEP = 0.02


class SharedServer:
    """One worker for all requests in flight, as a local model has: each takes `work` seconds of it.

    Streams a word for each tenth of the work where that is asked for; `stall` stops after so many words.
    """

    def __init__(self, work: float, stall: int | None = None) -> None:
        self.work, self.stall = work, stall
        self.in_flight = self.most = self.whole = self.given_up = 0
        self._ready = threading.Event()

    def __enter__(self) -> SharedServer:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),), daemon=True)
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _run(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._chat)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        done = words = 0
        try:
            if body.get("stream"):
                await response.prepare(request)
            while done < self.work:
                await asyncio.sleep(STEP)
                done += STEP / self.in_flight
                if body.get("stream") and words < 10 * done / self.work and words < (self.stall or 99):
                    words += 1
                    await self._send(response, {"choices": [{"index": 0, "delta": {"content": f"w{words} "}}]})
                elif self.stall is not None and words >= self.stall:
                    await asyncio.sleep(60)
            if not body.get("stream"):
                self.whole += 1
                return web.json_response(completion(1, "m", "whole"))
            await self._send(response, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            usage = {"prompt_tokens": 11, "completion_tokens": words}
            await self._send(response, {"id": "c", "model": "m-served", "choices": [], "usage": usage})
            await response.write(b"data: [DONE]\n\n")
            self.whole += 1
            return response
        except (asyncio.CancelledError, ConnectionError):
            self.given_up += 1
            raise
        finally:
            self.in_flight -= 1

    async def _send(self, response: web.StreamResponse, event: dict) -> None:
        await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")


def test_a_server_that_is_asked_too_much_at_once_is_asked_less(tmp_path):
    with SharedServer(work=0.4) as server:
        folder = prepare(tmp_path, server.url, 1, runs=6, sampling={"concurrency": 8, "timeout": 2.0, "retries": 4})
        # Eight at a time would take 3.2 s each, and every one would be asked again for ever.
        summary = sample_study(folder)
    assert (summary.recorded, summary.failed) == (12, 0)
    assert server.whole == 12
    # What was given up was ended at the server.
    assert server.given_up == summary.retried > 0
    assert {record.text for record in read_records(folder.records_path)} == {"whole"}
    assert read_sessions(folder.root)[0].requests == 12 + summary.retried


def test_an_answer_that_comes_in_pieces_may_take_longer_than_the_silence_allowed(tmp_path):
    with SharedServer(work=1.0) as server:
        endpoints = {"default": {"base_url": server.url, "api_key_env": None, "stream": "always"}}
        folder = prepare(
            tmp_path, server.url, 1, runs=2, endpoints=endpoints, sampling={"concurrency": 4, "timeout": 2.5}
        )
        states: list[SamplingState] = []

        class Watch:
            def update(self, state: SamplingState) -> None:
                states.append(state)

        begun = time.monotonic()
        summary = sample_study(folder, progress=Watch())
        assert time.monotonic() - begun > 3
    assert (summary.recorded, summary.failed, summary.retried) == (4, 0, 0)
    for record in read_records(folder.records_path):
        words = record.usage["completion_tokens"]
        assert words >= 9
        assert record.text == "".join(f"w{k} " for k in range(1, words + 1))
        assert record.finish_reason == "stop"
        assert record.response_model == "m-served"
        assert record.seconds > 2.5
        assert "stream" not in record.request
    assert max(state.in_flight for state in states) == 4
    assert max(state.longest_wait for state in states) > 2.5
    assert 4 <= max(state.tokens_under_way for state in states) <= 48
    assert states[-1].in_flight == states[-1].tokens_under_way == 0


def ask(url: str, timeout: float = 0.7, **settings):
    async def main():
        config = EndpointConfig(base_url=url, api_key_env=None, **settings)
        async with open_endpoint("e", config, timeout=timeout) as endpoint:
            try:
                return await endpoint.ask({"model": "m", "messages": [{"role": "user", "content": "?"}]})
            except PassingFailure as failure:
                return failure

    return asyncio.run(main())


def test_a_stream_that_falls_silent_is_dead():
    with SharedServer(work=0.5, stall=3) as server:
        begun = time.monotonic()
        failure = ask(server.url, stream="always")
        assert (type(failure), failure.kind) == (PassingFailure, "timeout")
        assert 0.7 <= time.monotonic() - begun < 5
        deadline = time.monotonic() + 10
        while not server.given_up and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (server.given_up, server.in_flight) == (1, 0)
