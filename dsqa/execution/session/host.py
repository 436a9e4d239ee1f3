"""Sessions side by side in one sandbox: the libraries are loaded once, each kernel is a process of its own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from dsqa.errors import ExecutionRefusedError, SessionEndedError
from dsqa.execution.artefacts.reader import Reader
from dsqa.execution.interpreter import environment_of
from dsqa.execution.isolation import find_launch, unsafe_launch
from dsqa.execution.model import check_names
from dsqa.execution.sandbox import SandboxDiedError
from dsqa.execution.session.kernel import KernelBox
from dsqa.execution.session.model import SessionLimits
from dsqa.execution.session.session import Session
from dsqa.study.sections import ExecutionConfig

__all__ = ["SessionHost", "open_session"]


class SessionHost:
    """Where sessions run. A context manager; leaving it ends every session.

    Parameters
    ----------
    limits
        For each cell and kernel.
    unsafe
        Where this machine offers no isolation, run anyway, with limits only.

    Raises
    ------
    ExecutionRefusedError
        There is no sufficient isolation and `unsafe` is not set, or the environment is not what `limits` declare.
    """

    def __init__(self, limits: ExecutionConfig, *, unsafe: bool = False) -> None:
        self._environment = environment_of(limits)
        python = limits.python or ""
        launch, isolation = find_launch(python)
        if launch is None:
            if not unsafe:
                raise ExecutionRefusedError(
                    f"generated code is not run: this machine offers no sufficient isolation ({isolation.why})",
                    hint="'dsqa doctor' says what to install; unsafe=True runs it as yourself",
                )
            launch, isolation = unsafe_launch(python)
        self.limits = limits
        self._launch = launch
        self._isolation = isolation
        self._boxes: dict[int, KernelBox] = {}
        self._sessions: list[Session] = []
        self._reader = Reader(launch)
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(
        self,
        data_files: Mapping[str, Path] | None = None,
        whole: SessionLimits | None = None,
        *,
        limits: ExecutionConfig | None = None,
    ) -> Session:
        """Return a new session; its kernel starts with its first cell.

        Parameters
        ----------
        data_files
            Name in the working folder → file on this machine; the session gets its own read-only copy.
        whole
            What its cells may use together.
        limits
            Other limits than the host's, for each cell and kernel.

        Raises
        ------
        ValueError
            A data file's name would lead out of the working folder.
        """
        files = dict(data_files or {})
        check_names("session", files)
        whole = whole or SessionLimits()
        name, environment = self._isolation.name, self._environment
        # Where runs are not held apart by namespaces of their own, each session has a sandbox of its own.
        place = 0 if self._launch.parallel else len(self._sessions)
        session = Session(
            functools.partial(self._box, place), limits or self.limits, files, whole, name, environment, self._reader
        )
        self._sessions.append(session)
        return session

    def close(self) -> None:
        """End every session and the sandbox."""
        self._closed = True
        for session in self._sessions:
            session.close()
        for box in self._boxes.values():
            box.close()
        self._boxes.clear()
        self._reader.close()

    def _box(self, place: int) -> KernelBox:
        """Return the sandbox, a new one where there is none that answers."""
        if self._closed:
            raise SessionEndedError("the host of the session is closed")
        box = self._boxes.get(place)
        if box is not None and not box.answers():
            box.close()
            box = None
        if box is None:
            try:
                box = self._boxes[place] = KernelBox(self._launch)
            except SandboxDiedError as died:
                raise ExecutionRefusedError(f"the sandbox does not start: {died}", hint="see 'dsqa doctor'") from None
            if not box.has_sessions:
                raise ExecutionRefusedError("sessions need IPython", hint="pip install ipython")
        return box


@contextlib.contextmanager
def open_session(
    limits: ExecutionConfig | None = None,
    data_files: Mapping[str, Path] | None = None,
    *,
    whole: SessionLimits | None = None,
    unsafe: bool = False,
) -> Iterator[Session]:
    """Open one session in a sandbox of its own.

    Parameters
    ----------
    limits
        For each cell; the default limits if None.
    data_files, whole, unsafe
        As for `SessionHost` and `SessionHost.open`.

    Examples
    --------
    >>> with open_session() as session:  # doctest: +SKIP
    ...     session.run("x = 20")
    ...     session.run("x + 1").value
    '21'
    """
    with SessionHost(limits or ExecutionConfig(), unsafe=unsafe) as host:
        yield host.open(data_files, whole)
