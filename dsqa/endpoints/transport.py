"""HTTP as thin as it can be: one attempt per call over a pool of connections, errors named.

The official client spends 2 to 5 ms of CPU on a request, aiohttp 0.4 ms. The client says how an endpoint is spoken to
(`openai_client`: address, signature, default headers, trusted certificates); the bytes go over aiohttp directly.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
from yarl import URL

from dsqa.endpoints.failures import PassingFailure, PermanentFailure, Scope
from dsqa.foreign import visible

__all__ = ["EVENT_STREAM", "MOST_BYTES", "PATIENCE", "Answer", "Transport"]

EVENT_STREAM = "text/event-stream"
PATIENCE = 20
"""Times the allowed silence that an answer may take in all, however steadily it comes."""

MOST_BYTES = 32 << 20
"""Of a response's body, after decompression. The longest answers of today's models are a hundredth of it, with the
log-probabilities of twenty alternatives for each token a third."""
_MOST_BYTES_OF_ERROR = 1 << 20
"""Of an error's body, of which one line is kept."""

CONNECT_SECONDS = 30.0
KEEP_ALIVE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, whatever its status."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    seconds: float

    @property
    def text(self) -> str:
        """The body; JSON is UTF-8 whatever the header claims, and some servers put a byte order mark before it."""
        return self.content.decode("utf-8-sig", "replace")


class Transport:
    """Connections to one endpoint; must be made where an event loop runs.

    Parameters
    ----------
    base_url
        Its address; a query string in it goes with every request.
    query
        More of a query string.
    headers
        Sent with every request.
    timeout
        Seconds that one request may take from sending to the last byte; of one that is streamed, seconds without a
        byte.
    """

    def __init__(self, base_url: str, query: Mapping[str, str], headers: Mapping[str, str], timeout: float) -> None:
        self._base = URL(base_url).update_query(dict(query))
        self._urls: dict[str, URL] = {}
        self._timeout = timeout
        self._proxy, self._proxy_headers = _proxy_for(base_url)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                keepalive_timeout=KEEP_ALIVE_SECONDS,
                ttl_dns_cache=300,
                # The certificates that the official client trusts, SSL_CERT_FILE included.
                ssl=httpx2.create_ssl_context() if self._base.scheme == "https" else False,
            ),
            headers=headers,
            # The whole request is timed below; aiohttp's own total rounds up to whole seconds.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(timeout, CONNECT_SECONDS)),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def post(self, path: str, content: bytes) -> Answer:
        """Send a body, once.

        Raises
        ------
        PassingFailure
            No whole response came.
        PermanentFailure
            The response is larger than `MOST_BYTES`; the rest of it is not read.
        """
        return await self._send("POST", path, content, self._timeout)

    async def stream(self, path: str, content: bytes, take: Callable[[bytes], object]) -> Answer:
        """Send a body, once, and hand on the response as it comes, where it comes as server-sent events.

        The time allowed is for silence: it begins anew with every piece, up to `PATIENCE` times in all.

        Parameters
        ----------
        path, content
            As for `post`.
        take
            Called with each piece.

        Returns
        -------
        Answer
            With an empty `Answer.content` where all of it was handed on; else as from `post`.

        Raises
        ------
        PassingFailure, PermanentFailure
            As `post` does.
        """
        return await self._send("POST", path, content, self._timeout, take)

    async def get(self, path: str, *, timeout: float | None = None) -> Answer:
        """Fetch, once; raises as `post` does."""
        return await self._send("GET", path, None, min(timeout or self._timeout, self._timeout))

    async def _send(
        self,
        method: str,
        path: str,
        content: bytes | None,
        timeout: float,
        take: Callable[[bytes], object] | None = None,
    ) -> Answer:
        begun = time.perf_counter()
        try:
            # aiohttp's finer limits are per read: bytes that trickle in never meet them.
            async with (
                asyncio.timeout(timeout) as limit,
                self._session.request(
                    method,
                    self._url(path),
                    data=content,
                    proxy=self._proxy,
                    proxy_headers=self._proxy_headers,
                    # A redirected POST becomes a GET, and the key would go where nobody meant it to.
                    allow_redirects=False,
                ) as response,
            ):
                if take is None or response.status != 200 or response.content_type != EVENT_STREAM:
                    body = await _body_of(response)
                else:
                    body = b""
                    end = asyncio.get_running_loop().time() + PATIENCE * timeout
                    async for part in _parts_of(response):
                        take(part)
                        limit.reschedule(min(end, asyncio.get_running_loop().time() + timeout))
                return Answer(response.status, response.headers, body, time.perf_counter() - begun)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _named(error, timeout) from None

    def _url(self, path: str) -> URL:
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = self._base.with_path(
                self._base.raw_path.rstrip("/") + path, encoded=True, keep_query=True
            )
        return url


async def _body_of(response: aiohttp.ClientResponse) -> bytes:
    """Read a body; of an error's no more than anybody needs."""
    parts = []
    size = 0
    async for part in _parts_of(response):
        parts.append(part)
        size += len(part)
        if response.status >= 400 and size >= _MOST_BYTES_OF_ERROR:
            response.close()
            break
    return b"".join(parts)


async def _parts_of(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Yield a body as it comes, decompressed, and not more than `MOST_BYTES` of it."""
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MOST_BYTES:
            response.close()
            raise PermanentFailure(
                "too large",
                f"the response is larger than {MOST_BYTES >> 20} MiB, and was not read to its end",
                scope=Scope.REQUEST,
                status=response.status,
            )
        yield part


def _named(error: Exception, timeout: float) -> PassingFailure:
    causes = list(_chain(error))
    said = next((str(cause) for cause in reversed(causes) if str(cause)), type(error).__name__)
    message = visible(" ".join(said.split()))
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return PassingFailure("connection", message)
    if isinstance(error, TimeoutError):
        return PassingFailure("timeout", f"no answer within {timeout:g} s")
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError):
        return PassingFailure("dropped", f"the connection broke before the answer was whole: {message}")
    return PassingFailure("dropped", f"the connection broke: {message}")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _proxy_for(base_url: str) -> tuple[URL | None, dict[str, str] | None]:
    # Looked up once: aiohttp's trust_env does it anew in a thread for every request, and reads ~/.netrc for keys.
    parts = urlsplit(base_url)
    if proxy_bypass(parts.hostname or ""):
        return None, None
    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if not named or urlsplit(named).scheme not in {"http", "https"}:
        return None, None
    url = URL(named)
    if url.user is None:
        return url, None
    signature = aiohttp.encode_basic_auth(url.user, url.password or "")
    return url.with_user(None), {"Proxy-Authorization": signature}
