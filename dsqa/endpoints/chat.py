"""Chat completions over HTTP: the official client on its fastest transport, one attempt per call.

The client builds the request, signs it and keeps the connections. Bodies are written and read here: what was
sent is then exactly what the record says, and nothing the endpoint answered is lost to a schema.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import aiohttp
import httpx2
import openai

from dsqa.endpoints.classify import ErrorContext, classify_response
from dsqa.endpoints.failures import Failure, PassingFailure
from dsqa.endpoints.headers import rate_limit_headers
from dsqa.endpoints.reply import MalformedReplyError, Reply, read_replies
from dsqa.endpoints.secrets import Secret, without_credentials
from dsqa.errors import EndpointError

__all__ = ["ChatEndpoint"]

CONNECT_SECONDS = 30.0
REACH_SECONDS = 10.0


class ChatEndpoint:
    """An OpenAI-compatible endpoint; `dsqa.endpoints.open_endpoint` makes one.

    Parameters
    ----------
    name
        Its name in the study.
    base_url
        Up to and including ``/v1`` or the like.
    key
        The key, or an empty `Secret`.
    key_variable
        Where the key came from, for messages.
    timeout
        Seconds that one request may take from sending to the last byte.
    concurrency_limit
        Requests that it can work on at once, where that is known.
    recorded_url
        What records and messages call it, if not `base_url`.
    versions
        Of whatever answers, for the record.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        key: Secret,
        *,
        key_variable: str | None,
        timeout: float,
        concurrency_limit: int | None = None,
        recorded_url: str | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.base_url = recorded_url or without_credentials(base_url)
        self.concurrency_limit = concurrency_limit
        self.versions = {"openai": openai.__version__, **(versions or {})}
        self.models: tuple[str, ...] = ()
        self._key = key
        self._key_variable = key_variable
        self._timeout = timeout
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=30.0)
        waits = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
        self._client = openai.AsyncOpenAI(
            api_key=key.reveal() or "none",
            base_url=base_url,
            max_retries=0,
            timeout=waits,
            http_client=openai.DefaultAioHttpClient(timeout=waits, limits=limits),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def reach(self) -> None:
        """Make sure that something answers at the address, and learn which models it lists.

        Whether it accepts the key and the model only a real request tells: some endpoints have no list, and
        some keys may not read it.

        Raises
        ------
        EndpointError
            No connection can be made.
        """
        try:
            async with asyncio.timeout(min(REACH_SECONDS, self._timeout)):
                response = await self._client.get("/models", cast_to=httpx2.Response)
        except openai.APIStatusError:
            return
        except (openai.APIError, TimeoutError) as error:
            failure = self._without_response(error)
            if failure.unreachable:
                raise EndpointError(
                    f"endpoint '{self.name}' cannot be reached at {self.base_url}: {failure.message}",
                    hint="check base_url and the network",
                ) from None
            return
        self.models = tuple(_model_names(self._key.strike(_text(response))))

    async def ask(self, request: Mapping[str, Any], *, run: int = 0) -> Reply:
        """Send one request for one answer, once; see `ask_many`."""
        return (await self.ask_many(request, run=run))[0]

    async def ask_many(self, request: Mapping[str, Any], *, run: int = 0) -> tuple[Reply, ...]:
        """Send one request, once.

        Parameters
        ----------
        request
            The body, sent exactly so.
        run
            Not looked at.

        Raises
        ------
        PassingFailure
            No answer, but another try may bring one.
        PermanentFailure
            No answer, and no use in trying again.
        """
        # ASCII escapes also carry lone surrogates, which have no UTF-8 form.
        content = json.dumps(request, separators=(",", ":")).encode("ascii")
        begun = time.perf_counter()
        try:
            # The client's own limits are per read: bytes that trickle in never meet them.
            async with asyncio.timeout(self._timeout):
                response = await self._client.post("/chat/completions", cast_to=httpx2.Response, content=content)
        except openai.APIStatusError as error:
            raise self._from_status(error.status_code, error.response, request) from None
        except (openai.APIError, TimeoutError) as error:
            raise self._without_response(error) from None
        seconds = time.perf_counter() - begun
        body = self._body_of(response)
        upstream = body.get("error") if isinstance(body, dict) else None
        if upstream and not body.get("choices"):
            # OpenRouter and others report an upstream error inside a 200.
            code = upstream.get("code") if isinstance(upstream, dict) else None
            raise self._from_status(code if isinstance(code, int) and code >= 400 else 502, response, request)
        try:
            return read_replies(body, seconds, rate_limit_headers(response.headers))
        except MalformedReplyError as malformed:
            self._raise_malformed(str(malformed), response.status_code)

    def _body_of(self, response: httpx2.Response) -> Any:
        try:
            # NaN and Infinity are no JSON; as text they survive into a record that is.
            return json.loads(self._key.strike(_text(response)), parse_constant=str)
        except (ValueError, RecursionError):
            return self._raise_malformed("the body is not JSON", response.status_code)

    def _raise_malformed(self, what: str, status: int) -> NoReturn:
        raise PassingFailure("malformed body", what, status=status) from None

    def _from_status(self, status: int, response: httpx2.Response, request: Mapping[str, Any]) -> Failure:
        about = ErrorContext(
            url=self.base_url, model=str(request.get("model")), key_variable=self._key_variable, models=self.models
        )
        failure = classify_response(status, response.headers, self._key.strike_message(_text(response)), about)
        failure.headers = rate_limit_headers(response.headers)
        return failure

    def _without_response(self, error: Exception) -> PassingFailure:
        causes = list(_chain(error))
        said = next((str(cause) for cause in reversed(causes) if str(cause)), type(error).__name__)
        message = self._key.strike_message(" ".join(said.split()))
        if any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes):
            return PassingFailure("connection", message)
        if any(isinstance(cause, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError) for cause in causes):
            return PassingFailure("dropped", f"the connection broke before the answer was whole: {message}")
        if any(isinstance(cause, TimeoutError) for cause in causes):
            return PassingFailure("timeout", f"no answer within {self._timeout:g} s")
        return PassingFailure("dropped", f"the connection broke: {message}")


def _text(response: httpx2.Response) -> str:
    # JSON is UTF-8 whatever the header claims.
    return response.content.decode("utf-8", "replace")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _model_names(text: str) -> list[str]:
    try:
        rows = json.loads(text)["data"]
        names = [str(row["id"]) for row in rows]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    return [*names[:12], f"… {len(names) - 12} more"] if len(names) > 12 else names
