"""Endpoints that are asked from the workers of a cluster; for sampling they are endpoints like any other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from dsqa.cluster.connect import Cluster
from dsqa.cluster.crew import Crew
from dsqa.endpoints import Endpoint, Reply, open_endpoint
from dsqa.errors import ClusterError
from dsqa.study.sections import EndpointConfig

__all__ = ["ClusterOpener"]


class ClusterOpener:
    """Opens endpoints on a cluster's workers, in the place of `dsqa.endpoints.open_endpoint`.

    Parameters
    ----------
    cluster
        The open cluster.

    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._crew: Crew | None = None
        self._users = 0
        self._lost = 0

    @property
    def lost(self) -> int:
        """Requests that were with a worker when it was lost, and were asked again from another."""
        return self._lost + (0 if self._crew is None else self._crew.lost)

    @asynccontextmanager
    async def __call__(
        self, name: str, config: EndpointConfig, *, timeout: float, log_dir: Path | None = None
    ) -> AsyncIterator[Endpoint]:
        """Open an endpoint on every worker, each with the key of its own environment.

        Recorded runs are played back here: they need no other machine.

        Raises
        ------
        EndpointError, ClusterError
            It cannot be opened on a worker, or the workers would send to different addresses.
        """
        if config.kind == "replay":
            async with open_endpoint(name, config, timeout=timeout, log_dir=log_dir) as endpoint:
                yield endpoint
            return
        if self._crew is None:
            self._crew = Crew(self._cluster, timeout)
            await self._crew.start()
        crew = self._crew
        self._users += 1
        try:
            yield await _ClusterEndpoint.open(crew, name, config)
        finally:
            self._users -= 1
            if not self._users:
                self._crew = None
                await crew.close()
                self._lost += crew.lost


class _ClusterEndpoint:
    """One endpoint, asked from wherever a worker is free."""

    def __init__(
        self, crew: Crew, name: str, base_url: str, concurrency_limit: int | None, versions: dict[str, str]
    ) -> None:
        self.base_url = base_url
        self.concurrency_limit = concurrency_limit
        self.versions = versions
        self._crew = crew
        self._name = name

    @classmethod
    async def open(cls, crew: Crew, name: str, config: EndpointConfig) -> _ClusterEndpoint:
        opened = await crew.open(name, config)
        addresses = sorted({one.base_url for one in opened})
        if len(addresses) > 1:
            raise ClusterError(
                f"endpoint '{name}': the workers would send to different addresses: {', '.join(addresses)}",
                hint="set its base_url in the study",
            )
        limits = [one.concurrency_limit for one in opened if one.concurrency_limit is not None]
        return cls(crew, name, addresses[0], sum(limits) or None, opened[0].versions)

    async def ask(self, request: Mapping[str, Any], *, run: int = 0) -> Reply:
        return (await self.ask_many(request, run=run))[0]

    async def ask_many(self, request: Mapping[str, Any], *, run: int = 0) -> tuple[Reply, ...]:
        return await self._crew.ask(self._name, request, run)
