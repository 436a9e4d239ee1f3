"""The chief's side of sampling on a cluster: hands requests to workers, and notices which of them are gone."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any

from dsqa.cluster import worker
from dsqa.cluster.connect import Cluster
from dsqa.cluster.wire import Ask, Opened, Order, Outcome, error_of, raise_failure
from dsqa.endpoints import PassingFailure, Reply
from dsqa.errors import ClusterError, DsqaError
from dsqa.study.sections import EndpointConfig

__all__ = ["Crew"]

GATHER_SECONDS = 0.005
"""Requests that come within this time go to a worker together."""
POLL_SECONDS = 0.2
"""A worker reports at least so often; a request that comes meanwhile waits for it."""
WATCH_SECONDS = 1.0
ALONE_SECONDS = 60.0
"""How long to wait for a worker when none is left."""
GRACE_SECONDS = 60.0
"""Beyond the request's own limit: then its worker does not answer any more."""

MOST_STUMBLES = 2

LOST = "dropped"
"""The kind of failure of a request whose worker is gone: the endpoint may have worked on it."""


class Crew:
    """The workers of a cluster, for the length of one sampling session.

    Parameters
    ----------
    cluster
        The open cluster.
    timeout
        Seconds that one request may take.

    Attributes
    ----------
    lost
        Requests that were with a worker when it was lost; each is asked again.
    """

    def __init__(self, cluster: Cluster, timeout: float) -> None:
        self.lost = 0
        self._cluster = cluster
        self._timeout = timeout
        self._endpoints: dict[str, dict[str, Any]] = {}
        self._token = uuid.uuid4().hex
        self._ids = itertools.count()
        self._hands: dict[str, _Hand] = {}
        self._unfit: dict[str, DsqaError] = {}
        self._stumbles: Counter[str] = Counter()
        self._some = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        self._problem: DsqaError | None = None

    async def start(self) -> None:
        """Meet the workers, and keep an eye on them."""
        await self._look()
        self._watch = asyncio.create_task(self._keep_looking())

    async def close(self) -> None:
        """Call the workers off: what is still on its way there is cut off."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        for hand in self._hands.values():
            hand.leave(None)
        await asyncio.gather(*(hand.loop for hand in self._hands.values()), return_exceptions=True)
        # Answered by the workers' own loops, so it does not wait for a free thread there.
        await asyncio.to_thread(self._call_off)

    def _call_off(self) -> None:
        try:
            self._cluster.client.run(
                worker.close, self._token, workers=list(self._hands), on_error="ignore", wait=False
            )
        except (OSError, TimeoutError, ValueError):
            # Gone already; a worker that hears nothing more stops by itself.
            return

    async def open(self, name: str, config: EndpointConfig) -> list[Opened]:
        """Have every worker open an endpoint; return how each has."""
        self._endpoints[name] = config.model_dump(mode="json")
        hands = list(self._hands.values())
        asks = [hand.put(Ask(next(self._ids), name, None)) for hand in hands]
        outcomes = await asyncio.gather(*asks)
        opened = []
        for hand, outcome in zip(hands, outcomes, strict=True):
            if outcome.error is not None:
                raise error_of(outcome.error, hand.address)
            if outcome.failure is not None:
                raise_failure(outcome.failure)
            assert outcome.opened is not None  # noqa: S101
            opened.append(outcome.opened)
        return opened

    async def ask(self, name: str, request: Mapping[str, Any], run: int) -> tuple[Reply, ...]:
        """Have the worker with the least to do send a request, once.

        Raises
        ------
        PassingFailure, PermanentFailure
            As of the endpoint there; a worker that is lost with the request is a passing failure.
        """
        while True:
            hand = await self._choose()
            ask = Ask(next(self._ids), name, dict(request), run)
            try:
                async with asyncio.timeout(self._timeout + GRACE_SECONDS):
                    outcome = await hand.put(ask)
            except TimeoutError:
                raise PassingFailure("timeout", f"the worker {hand.address} gave no answer") from None
            if outcome.replies is not None:
                return outcome.replies
            if outcome.failure is not None:
                raise_failure(outcome.failure)
            # Its machine cannot ask this endpoint (no key, no way there): the others may.
            self._dismiss(hand, error_of(outcome.error or {}, hand.address))

    async def _choose(self) -> _Hand:
        while True:
            if self._problem is not None:
                raise self._problem
            if self._hands:
                return min(self._hands.values(), key=lambda hand: hand.load)
            self._some.clear()
            try:
                async with asyncio.timeout(ALONE_SECONDS):
                    await self._some.wait()
            except TimeoutError:
                raise self._nobody() from None

    def _nobody(self) -> DsqaError:
        if self._unfit:
            return next(iter(self._unfit.values()))
        return ClusterError(
            f"no worker of {self._cluster.address} is left",
            hint="what is recorded is kept; start workers and run the same command again to go on",
        )

    def _dismiss(self, hand: _Hand, why: DsqaError) -> None:
        self._unfit[hand.address] = why
        if self._hands.pop(hand.address, None) is not None:
            hand.leave(why.message)
        if not self._hands:
            self._fail(why)

    def _fail(self, problem: DsqaError) -> None:
        self._problem = self._problem or problem
        self._some.set()

    async def _keep_looking(self) -> None:
        while self._problem is None:
            await asyncio.sleep(WATCH_SECONDS)
            try:
                await self._look()
            except DsqaError as error:
                self._fail(error)
                for hand in self._hands.values():
                    hand.leave(error.message)

    async def _look(self) -> None:
        present = await asyncio.to_thread(self._cluster.workers)
        for address in self._hands.keys() - present.keys():
            self.lost += self._hands.pop(address).leave("is gone")
        for address in present:
            hand = self._hands.get(address)
            if hand is not None and hand.loop.done():
                self._stumbled(hand)
            if address not in self._hands and address not in self._unfit:
                self._hands[address] = _Hand(address, self._cluster.executor(address), self._order)
                self._some.set()

    def _stumbled(self, hand: _Hand) -> None:
        """A worker that is there could not take its orders: once may be the network's doing."""
        error = None if hand.loop.cancelled() else hand.loop.exception()
        why = f"could not take its orders ({type(error).__name__}: {error})"
        self._stumbles[hand.address] += 1
        if self._stumbles[hand.address] > MOST_STUMBLES:
            self._unfit[hand.address] = ClusterError(f"the worker {hand.address} {why}")
        self.lost += self._hands.pop(hand.address).leave(why)

    def _order(self, asks: list[Ask], dropped: list[int]) -> Order:
        return Order(self._token, dict(self._endpoints), self._timeout, tuple(asks), tuple(dropped), POLL_SECONDS)


class _Hand:
    """One worker: what it was given and has not reported yet."""

    def __init__(self, address: str, executor: Executor, order: Any) -> None:
        self.address = address
        self._executor = executor
        self._order = order
        self._given: dict[int, asyncio.Future[Outcome]] = {}
        self._asks: list[Ask] = []
        self._dropped: list[int] = []
        self._wake = asyncio.Event()
        self._left: str | None = None
        self.loop = asyncio.create_task(self._work())

    @property
    def load(self) -> int:
        return len(self._given)

    async def put(self, ask: Ask) -> Outcome:
        if self._left is not None:
            raise PassingFailure(LOST, f"the worker {self.address} {self._left}")
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._given[ask.id] = future
        self._asks.append(ask)
        self._wake.set()
        try:
            return await future
        finally:
            if self._given.pop(ask.id, None) is not None:
                # Nobody waits any more.
                self._dropped.append(ask.id)
                self._wake.set()

    def leave(self, why: str | None) -> int:
        """Have nothing more to do with it; return how many requests it had."""
        self._left = why or "was called off"
        self.loop.cancel()
        given, self._given = self._given, {}
        for future in given.values():
            if not future.done():
                future.set_exception(PassingFailure(LOST, f"the worker {self.address} {self._left}"))
        return len(given)

    async def _work(self) -> None:
        while True:
            while not self._given and not self._dropped:
                self._wake.clear()
                await self._wake.wait()
            await asyncio.sleep(GATHER_SECONDS)
            asks, self._asks = self._asks, []
            dropped, self._dropped = self._dropped, []
            for outcome in await self._exchange(self._order(asks, dropped)):
                future = self._given.pop(outcome.id, None)
                if future is not None and not future.done():
                    future.set_result(outcome)

    async def _exchange(self, order: Order) -> list[Outcome]:
        running = self._executor.submit(worker.exchange, order)
        try:
            return await asyncio.wrap_future(running)
        finally:
            running.cancel()
