"""The official client: how an endpoint is addressed and signed; files and batches go over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpx2
import openai

from dsqa.endpoints.secrets import Secret
from dsqa.study.sections import EndpointConfig

__all__ = ["Address", "openai_client", "request_headers"]


@dataclass(frozen=True)
class Address:
    """Where requests go: an address, and the query string that every one of them has."""

    base_url: str
    query: Mapping[str, str]

    @classmethod
    def of(cls, base_url: str, config: EndpointConfig) -> Address:
        """Split an address from its query string, and add the API's version if the settings name one."""
        parts = urlsplit(base_url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if config.api_version is not None:
            query["api-version"] = config.api_version
        return cls(urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", "")), query)

    @property
    def recorded(self) -> str:
        """The address in one piece."""
        return f"{self.base_url}?{urlencode(self.query)}" if self.query else self.base_url


def openai_client(
    address: Address, key: Secret, config: EndpointConfig, timeout: float, *, retries: int = 0
) -> openai.AsyncOpenAI:
    """Return the official client for an endpoint, on its fastest transport."""
    signed = config.auth == "bearer" and key.reveal()
    headers: dict[str, str | openai.Omit] = dict(config.headers)
    if not signed:
        headers["Authorization"] = openai.Omit()
    if config.auth == "api-key" and key.reveal():
        headers["api-key"] = key.reveal()
    waits = httpx2.Timeout(timeout, connect=min(timeout, 30.0))
    return openai.AsyncOpenAI(
        api_key=key.reveal() or "none",
        base_url=address.base_url,
        max_retries=retries,
        timeout=waits,
        default_query=address.query,
        default_headers=headers,  # type: ignore[arg-type]  # Omit is documented, its type is not
        http_client=openai.DefaultAioHttpClient(timeout=waits),
    )


def request_headers(client: openai.AsyncOpenAI) -> dict[str, str]:
    """Return what the official client would send with every request: signature, organisation, project, itself."""
    # A header that is Omit is one the settings leave out.
    headers = {**client.auth_headers, **client.default_headers}
    return {name: value for name, value in headers.items() if isinstance(value, str)}
