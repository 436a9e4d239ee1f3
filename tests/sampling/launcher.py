"""Sampling processes that start in milliseconds: one process imports everything, then forks on command.

Each fork is a process of its own, to be killed or interrupted for real. Commands and reports are lines of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any


class Launcher:
    """Use as a context manager; `start` returns the pid of a process that samples, `result` waits for its end."""

    def __enter__(self) -> Launcher:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.sampling.launcher"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._read() == {"ready": True}
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def start(self, folder: Path, *, file_size: int | None = None) -> int:
        self._process.stdin.write(json.dumps({"folder": str(folder), "file_size": file_size}) + "\n")
        self._process.stdin.flush()
        return self._read()["pid"]

    def result(self) -> dict[str, Any]:
        """{"status": exit status or -signal, "said": what it wrote}."""
        return self._read()

    def _read(self) -> dict[str, Any]:
        return json.loads(self._process.stdout.readline())


def _sample(folder: str, file_size: int | None, pipe: int) -> None:
    from dsqa.errors import DsqaError
    from dsqa.sampling import sample_study
    from dsqa.study.folder import StudyFolder

    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    try:
        said: Any = sample_study(StudyFolder.open(Path(folder))).to_dict()
    except DsqaError as error:
        said = f"{type(error).__name__}: {error}"
    os.write(pipe, json.dumps(said).encode())


def _import_everything() -> None:
    """Bring in what sampling brings in, also what the client imports only when one is made."""
    import packaging.requirements  # noqa: F401

    import dsqa.endpoints.http
    import dsqa.sampling  # noqa: F401
    from dsqa.endpoints.client import Address, openai_client
    from dsqa.endpoints.secrets import Secret
    from dsqa.study.sections import EndpointConfig

    openai_client(Address("http://127.0.0.1:1/v1", {}), Secret(None), EndpointConfig(), timeout=1.0)


def main() -> None:
    _import_everything()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(read)
                _sample(command["folder"], command["file_size"], write)
                status = 0
            finally:
                os._exit(status)
        os.close(write)
        print(json.dumps({"pid": pid}), flush=True)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        report = {"status": os.waitstatus_to_exitcode(status), "said": json.loads(said) if said else None}
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
