"""A real cluster: a scheduler and two workers, each a process of its own, as a user would start them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

KEY = "sk-cluster-secret-0123456789"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Fleet:
    """The processes; everything they print goes to files, for the tests to read."""

    folder: Path
    port: int = field(default_factory=free_port)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def start(self, name: str, *words: str, key: str | None = KEY) -> None:
        environment = {**os.environ, "OPENAI_API_KEY": key or ""}
        if key is None:
            del environment["OPENAI_API_KEY"]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_scheduler" if name == "scheduler" else WORKER, *words],
                stdout=log,
                stderr=log,
                env=environment,
                cwd=self.folder,
            )

    def start_scheduler(self) -> None:
        self.start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def await_scheduler(self) -> None:
        deadline = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < deadline, self.printed()
                time.sleep(0.1)

    def start_worker(self, name: str, *, key: str | None = KEY) -> None:
        words = ("--no-nanny", "--nthreads", "1", "--name", name, "--no-dashboard", "--local-directory", f"d-{name}")
        self.start(name, self.address, *words, key=key)

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def printed(self) -> str:
        return "".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))


WORKER = "distributed.cli.dask_worker"


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    fleet = Fleet(tmp_path_factory.mktemp("fleet"))
    try:
        fleet.start_scheduler()
        fleet.await_scheduler()
        for name in ("one", "two"):
            fleet.start_worker(name)
        yield fleet
    finally:
        fleet.close()


@pytest.fixture
def cluster(fleet: Fleet):
    from dsqa.cluster import open_cluster

    for name in ("one", "two"):
        if name not in fleet.processes:
            fleet.start_worker(name)
    with open_cluster(fleet.address) as open_one:
        deadline = time.monotonic() + 120
        while len(open_one.workers()) != 2:
            assert time.monotonic() < deadline, fleet.printed()
            time.sleep(0.1)
        yield open_one
