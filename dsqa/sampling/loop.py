"""Run the event loop that samples, from a script or a notebook, and bring Ctrl-C to it."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import uvloop

__all__ = ["Stopper", "run_loop"]

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopper:
    """Carries a wish to stop to the loop that samples: the first ends it soon, the second at once."""

    def __init__(self) -> None:
        self.requested = False
        self._act: Callable[[], object] | None = None

    def request(self) -> None:
        """Ask the loop to stop; from any thread."""
        self.requested = True
        if self._act is not None:
            self._act()

    @contextmanager
    def attached(self, stop: asyncio.Event, hurry: asyncio.Event) -> Iterator[None]:
        """Set `stop` when asked to, by `request`, SIGINT or SIGTERM, and `hurry` when asked again."""
        loop = asyncio.get_running_loop()

        def act() -> None:
            (hurry if stop.is_set() else stop).set()

        self._act = lambda: loop.call_soon_threadsafe(act)
        before = {}
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                before[number] = signal.getsignal(number)
                loop.add_signal_handler(number, self.request)
        try:
            yield
        finally:
            self._act = None
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)


def run_loop(main: Callable[[Stopper], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end on a loop of its own.

    Where this thread has a loop running already, as a notebook's has, a second thread runs the new one.
    """
    stopper = Stopper()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(main(stopper))
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(_run(main(stopper)))
        except BaseException as error:  # raised again in the thread that waits
            errors.append(error)

    thread = threading.Thread(target=run, name="dsqa-sampling")
    thread.start()
    while thread.is_alive():
        try:
            thread.join()
        except KeyboardInterrupt:
            stopper.request()
    if errors:
        raise errors[0]
    return results[0]


def _run(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
