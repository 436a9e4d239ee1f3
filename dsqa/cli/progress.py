"""Progress on stderr for the steps after sampling."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

__all__ = ["counting_bar"]


@contextmanager
def counting_bar(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while the block runs; the yielded function takes (done, total).

    Where stderr is no terminal nothing is drawn, so that logs stay plain.
    """
    with tqdm(total=0, desc=what, unit=f" {unit}", file=sys.stderr, disable=None, dynamic_ncols=True) as bar:

        def advance(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield advance
