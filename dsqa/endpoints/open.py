"""Open an endpoint by its settings, whatever its kind."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from dsqa.endpoints.reply import Reply
from dsqa.endpoints.secrets import Secret, read_key
from dsqa.errors import EndpointError
from dsqa.study.sections import EndpointConfig, check_address

__all__ = ["OPENAI_URL", "Endpoint", "open_endpoint"]

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
    MissingDependencyError
        The embedded model is not installed.
    """
    # Both bring in a lot; whoever only prints a report does not wait for it.
    from dsqa.endpoints.chat import ChatEndpoint  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        if config.kind == "embedded":
            from dsqa.endpoints.embedded.server import start_server  # noqa: PLC0415

            server = await stack.enter_async_context(start_server(name, config, log_dir))
            endpoint = ChatEndpoint(
                name,
                server.base_url,
                Secret(None),
                key_variable=None,
                timeout=timeout,
                concurrency_limit=config.slots,
                recorded_url="embedded",
                versions=server.versions,
            )
            stack.push_async_callback(endpoint.close)
        else:
            base_url = config.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
            try:
                # A study's own address is checked when it is read; this may be the environment's.
                check_address(base_url)
            except ValueError as error:
                raise EndpointError(f"endpoint '{name}': base_url {error}") from None
            key = read_key(name, config, base_url)
            endpoint = ChatEndpoint(name, base_url, key, key_variable=config.api_key_env, timeout=timeout)
            stack.push_async_callback(endpoint.close)
        await endpoint.reach()
        yield endpoint
