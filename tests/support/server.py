"""A real local HTTP server that answers chat completions, counts, and misbehaves on demand.

Used by tests and by benchmarks/sampling.py. It runs in a thread of its own (`with FaultServer() as server`),
or as a process: ``python -m tests.support.server --latency 0.1`` prints its URL.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.batches import Batches


@dataclass(frozen=True)
class Fault:
    """What to do instead of answering.

    how: "status" (answer with status, headers, body), "disconnect" (close before any byte), "drop" (promise a
    body, send half of it, close), "trickle" (one byte every `delay` seconds), "hang" (nothing for `delay`
    seconds, then disconnect), "bytes" (status, headers and `data` as they are), "endless" (status, headers, and
    `data` again and again until the other side closes).
    """

    how: str = "status"
    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    data: bytes = b""


def error(status: int, message: str = "no", code: str | None = None, headers: dict[str, str] | None = None) -> Fault:
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}})
    return Fault(status=status, body=body, headers=headers or {})


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    number: int
    at: float
    body: dict[str, Any]
    headers: dict[str, str]
    path: str = ""

    @property
    def prompt(self) -> str:
        return self.body["messages" if "messages" in self.body else "input"][-1]["content"]


Script = Callable[[Seen], Fault | dict[str, Any] | None]
"""What to do with a request: a fault, a whole answer of its own, or None for the usual answer."""


def completion(number: int, model: str, text: str | None, **message: Any) -> dict[str, Any]:
    finish = message.pop("finish_reason", "stop")
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": f"{model}-served",
        "x_unknown": {"kept": True},
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16, "x_ms": 1.5},
    }


def response(number: int, model: str, text: str | None, *, output: Any = None, **fields: Any) -> dict[str, Any]:
    """A response of the Responses API, as OpenAI sends it."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    message = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [part]}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": f"{model}-served",
        "output": [message] if output is None else output,
        "usage": {
            "input_tokens": 11,
            "input_tokens_details": {"cached_tokens": 4},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 16,
        },
        **fields,
    }


class FaultServer:
    """The server; `url` ends in /v1.

    It also answers under /openai/deployments/NAME, as Azure does.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        latency: float = 0.0,
        models: tuple[str, ...] = ("m", "other"),
        keep: bool = True,
    ) -> None:
        self.script = script
        self.latency = latency
        self.models = models
        self.keep = keep
        self.seen: list[Seen] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.endless = 0
        """Bytes that "endless" answers came to."""
        self.url = ""
        self.batches = Batches(self._execute)
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._stop: asyncio.Event | None = None

    def __enter__(self) -> FaultServer:
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the port and every connection; harmless when done already."""
        if not self._thread.is_alive():
            return
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.run())
        self._loop.close()

    async def run(self, announce: Callable[[str], None] | None = None) -> None:
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/v1/models", self._list)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/responses", self._chat)
        app.router.add_post("/openai/deployments/{name}/chat/completions", self._chat)
        self.batches.add_to(app)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        if announce:
            announce(self.url)
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _list(self, _request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": m, "object": "model"} for m in self.models]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            body = await request.json()
            seen = self._see(body, dict(request.headers), request.path_qs)
            if self.latency:
                await asyncio.sleep(self.latency)
            answer = self._answer(seen)
            if isinstance(answer, Fault):
                return await self._misbehave(request, answer)
            return web.json_response(answer)
        finally:
            self.in_flight -= 1

    def _see(self, body: dict[str, Any], headers: dict[str, str], path: str) -> Seen:
        seen = Seen(next(self._numbers), time.monotonic(), body, headers, path)
        if self.keep:
            self.seen.append(seen)
        return seen

    def _answer(self, seen: Seen) -> Fault | dict[str, Any]:
        answer = self.script(seen) if self.script else None
        if answer is not None:
            return answer
        make = response if "/responses" in seen.path else completion
        return make(seen.number, str(seen.body.get("model")), f"answer {seen.number}")

    async def _execute(self, url: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Answer a request of a batch as if it had come by itself; only faults that are a status make sense."""
        answer = self._answer(self._see(body, {}, url))
        if isinstance(answer, Fault):
            return answer.status, json.loads(answer.body)
        return 200, answer

    async def _misbehave(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        assert request.transport is not None
        if fault.how == "status":
            await asyncio.sleep(fault.delay)
            return web.Response(
                status=fault.status, text=fault.body, headers=fault.headers, content_type="application/json"
            )
        if fault.how in {"bytes", "endless"}:
            return await self._send_bytes(request, fault)
        if fault.how == "disconnect":
            request.transport.abort()
            return web.Response()
        if fault.how == "hang":
            await asyncio.sleep(fault.delay)
            request.transport.abort()
            return web.Response()
        text = json.dumps(completion(0, "m", "never whole " * 50)).encode()
        response = web.StreamResponse(headers={"Content-Length": str(len(text)), "Content-Type": "application/json"})
        await response.prepare(request)
        if fault.how == "drop":
            await response.write(text[: len(text) // 2])
            await asyncio.sleep(0.02)
            request.transport.abort()
        elif fault.how == "trickle":
            for position in range(len(text)):
                await response.write(text[position : position + 1])
                await asyncio.sleep(fault.delay)
        else:
            raise AssertionError(fault.how)
        return response

    async def _send_bytes(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        response = web.StreamResponse(
            status=fault.status, headers={"Content-Type": "application/json", **fault.headers}
        )
        await response.prepare(request)
        await response.write(fault.data)
        while fault.how == "endless" and self.endless < 1 << 30:
            try:
                await response.write(fault.data)
            except ConnectionError:
                break
            self.endless += len(fault.data)
        return response


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    server = FaultServer(latency=parser.parse_args().latency, keep=False)
    try:
        import uvloop

        run = uvloop.run
    except ImportError:
        run = asyncio.run
    run(server.run(lambda url: print(url, flush=True)))


if __name__ == "__main__":
    main()
