"""On a worker: send what the chief orders, each request once, and report what came of it.

Requests run on an event loop in a thread of their own, so that an order comes back at once with whatever is finished,
while the others go on. A worker that hears nothing of its chief for a while stops sending and forgets.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

from dsqa.cluster.wire import Ask, Opened, Order, Outcome, pack_error, pack_failure
from dsqa.endpoints import Endpoint, Failure, open_endpoint
from dsqa.errors import ClusterError, DsqaError
from dsqa.study.sections import EndpointConfig

__all__ = ["LEASE_SECONDS", "close", "exchange"]

LEASE_SECONDS = 30.0
"""A worker that hears nothing for so long stops."""
LINGER_SECONDS = 0.05

_hosts: dict[str, _Host] = {}
_lock = threading.Lock()


def exchange(order: Order) -> list[Outcome]:
    """Take an order, and return what is finished: at once if something is, else within ``order.wait`` seconds."""
    with _lock:
        host = _hosts.get(order.token)
        if host is None or not host.alive:
            host = _hosts[order.token] = _Host(order)
    return host.exchange(order)


async def close(token: str) -> None:
    """End a session: what is still on its way is cut off.

    Run by the worker's own loop, which needs no free thread.
    """
    with _lock:
        host = _hosts.pop(token, None)
    if host is not None:
        host.stop()


class _Host:
    """The endpoints of one session, open, and the requests on their way."""

    def __init__(self, order: Order) -> None:
        self._endpoints = {name: EndpointConfig.model_validate(row) for name, row in order.endpoints.items()}
        self._timeout = order.timeout
        self._open: dict[str, asyncio.Task[Endpoint]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._finished: list[Outcome] = []
        self._news = threading.Condition()
        self._heard = time.monotonic()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._end: asyncio.Event
        self._thread = threading.Thread(target=self._serve, name="dsqa-worker", daemon=True)
        self._thread.start()
        self._ready.wait()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive() and not self._end.is_set()

    def exchange(self, order: Order) -> list[Outcome]:
        self._heard = time.monotonic()
        self._loop.call_soon_threadsafe(self._take, order)
        with self._news:
            if self._news.wait_for(lambda: self._finished, timeout=order.wait) and self._tasks:
                # An order costs the chief about 10 ms: what is finished with it, or soon after, goes along.
                self._news.wait_for(lambda: not self._tasks, timeout=LINGER_SECONDS)
            finished, self._finished = self._finished, []
        return finished

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._main())

    async def _main(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        async with AsyncExitStack() as stack:
            self._stack = stack
            while not self._end.is_set():
                try:
                    async with asyncio.timeout(1.0):
                        await self._end.wait()
                except TimeoutError:
                    if time.monotonic() - self._heard > LEASE_SECONDS:
                        self._end.set()
            tasks = [*self._tasks.values(), *self._open.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _take(self, order: Order) -> None:
        for ask in order.asks:
            self._tasks[ask.id] = asyncio.create_task(self._do(ask))
        for number in order.dropped:
            if number in self._tasks:
                self._tasks[number].cancel()

    async def _do(self, ask: Ask) -> None:
        try:
            outcome = await self._ask(ask)
        except Failure as failure:
            outcome = Outcome(ask.id, failure=pack_failure(failure))
        except DsqaError as error:
            outcome = Outcome(ask.id, error=pack_error(error))
        except Exception as error:
            outcome = Outcome(ask.id, error=pack_error(ClusterError(f"{type(error).__name__}: {error}")))
        finally:
            self._tasks.pop(ask.id, None)
        with self._news:
            self._finished.append(outcome)
            self._news.notify()

    async def _ask(self, ask: Ask) -> Outcome:
        if ask.endpoint not in self._open:
            self._open[ask.endpoint] = asyncio.create_task(self._opened(ask.endpoint))
        endpoint = await asyncio.shield(self._open[ask.endpoint])
        if ask.request is None:
            opened = Opened(endpoint.base_url, endpoint.concurrency_limit, dict(endpoint.versions))
            return Outcome(ask.id, opened=opened)
        return Outcome(ask.id, replies=await endpoint.ask_many(ask.request, run=ask.run))

    async def _opened(self, name: str) -> Endpoint:
        logs = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="dsqa-worker-")))
        return await self._stack.enter_async_context(
            open_endpoint(name, self._endpoints[name], timeout=self._timeout, log_dir=logs)
        )
