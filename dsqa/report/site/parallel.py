"""Several steps at a time, ended at once by Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed

from dsqa.errors import DsqaError
from dsqa.report.execute import Kernels

__all__ = ["in_parallel"]


def in_parallel(
    tasks: Mapping[str, Callable[[], object]], jobs: int, kernels: Kernels | None = None
) -> Iterator[tuple[str, DsqaError | None]]:
    """Yield each task's name as it ends, and the error that a user can mend where it failed with one.

    Parameters
    ----------
    tasks
        What to do, by name; each waits for processes of its own, so threads are enough.
    jobs
        Tasks at a time.
    kernels
        Those that the tasks start; they are ended when this is interrupted.
    """
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="dsqa-report")
    try:
        futures = {pool.submit(task): name for name, task in tasks.items()}
        for future in as_completed(futures):
            try:
                future.result()
            except DsqaError as error:
                yield futures[future], error
            else:
                yield futures[future], None
    except BaseException:
        if kernels is not None:
            kernels.stop()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()
