"""Open an endpoint by its settings, whatever its kind."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dsqa.endpoints.reply import Reply
from dsqa.endpoints.secrets import Secret, read_key, without_credentials
from dsqa.errors import EndpointError
from dsqa.study.sections import EndpointConfig, check_address

if TYPE_CHECKING:
    from dsqa.endpoints.http import HttpEndpoint

__all__ = ["OPENAI_URL", "Endpoint", "address_of", "open_endpoint"]

OPENAI_URL = "https://api.openai.com/v1"


class Endpoint(Protocol):
    """What answers requests."""

    base_url: str
    """Where it is, as records name it; never with credentials."""
    concurrency_limit: int | None
    """Requests it can work on at once, where that is known."""
    versions: dict[str, str]
    """Of the client, and of the model's weights where they are known."""

    async def ask(self, request: Mapping[str, Any], *, run: int = 0) -> Reply:
        """Send one request for one answer, once.

        Raise `PassingFailure` or `PermanentFailure` where no answer comes. `run` is the number of the run that is
        asked: an endpoint that plays records back goes by it, others do not look at it.
        """
        ...

    async def ask_many(self, request: Mapping[str, Any], *, run: int = 0) -> tuple[Reply, ...]:
        """Send one request, which may ask for several choices (``n``), once; return a reply for each choice.

        They are the runs from `run` on. How usage is attributed: see `dsqa.endpoints.read_replies`. There may be
        fewer than were asked for; never none.
        """
        ...


@asynccontextmanager
async def open_endpoint(
    name: str, config: EndpointConfig, *, timeout: float, log_dir: Path | None = None
) -> AsyncIterator[Endpoint]:
    """Open an endpoint for the length of a block, and make sure that something answers there.

    Parameters
    ----------
    name
        Its name in the study, for messages.
    config
        Its settings. Without `base_url` it is the one in ``OPENAI_BASE_URL``, else OpenAI's own.
    timeout
        Seconds that one request may take.
    log_dir
        Where an embedded server writes its log; a temporary folder by default.

    Raises
    ------
    EndpointError
        The key is not set, the address cannot be reached, the embedded server does not start.
    RecordError
        What is to be played back cannot be read.
    MissingDependencyError
        The embedded model is not installed.
    """
    async with AsyncExitStack() as stack:
        if config.kind == "replay":
            from dsqa.endpoints.replay import ReplayEndpoint  # noqa: PLC0415

            yield stack.enter_context(ReplayEndpoint.open(name, Path(config.records or "")))
            return
        endpoint = await _open_http(stack, name, config, timeout, log_dir)
        await endpoint.reach()
        yield endpoint


def address_of(name: str, config: EndpointConfig) -> str:
    """Return the address of an endpoint of kind openai: its settings', the environment's, or OpenAI's own.

    Raises
    ------
    EndpointError
        It is no address, or holds credentials.
    """
    base_url = config.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    try:
        # A study's own address is checked when it is read; this may be the environment's.
        return check_address(base_url)
    except ValueError as error:
        raise EndpointError(f"endpoint '{name}': base_url {error}") from None


async def _open_http(
    stack: AsyncExitStack, name: str, config: EndpointConfig, timeout: float, log_dir: Path | None
) -> HttpEndpoint:
    # These bring in a lot; whoever only prints a report does not wait for it.
    from dsqa.endpoints.client import Address, openai_client  # noqa: PLC0415
    from dsqa.endpoints.http import HttpEndpoint  # noqa: PLC0415

    versions: dict[str, str] = {}
    if config.kind == "embedded":
        from dsqa.endpoints.embedded.server import start_server  # noqa: PLC0415

        server = await stack.enter_async_context(start_server(name, config, log_dir))
        base_url, key, versions = server.base_url, Secret(None), server.versions
    else:
        base_url = address_of(name, config)
        key = read_key(name, config, base_url)
    address = Address.of(base_url, config)
    client = openai_client(address, key, config, timeout)
    stack.push_async_callback(client.close)
    endpoint = HttpEndpoint(
        name,
        address,
        client,
        key,
        api=config.api,
        key_variable=config.api_key_env if config.kind == "openai" and config.auth != "none" else None,
        timeout=timeout,
        recorded_url="embedded" if config.kind == "embedded" else without_credentials(address.recorded),
        concurrency_limit=config.slots if config.kind == "embedded" else None,
        versions=versions,
        stream=config.stream == "always",
    )
    stack.push_async_callback(endpoint.close)
    return endpoint
