"""The official client: how an endpoint is addressed and signed; files and batches go over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpx2
import openai

from dsqa.endpoints.secrets import Secret
from dsqa.study.sections import EndpointConfig

__all__ = ["Address", "blocking_client", "openai_client", "request_headers"]

CONNECT_SECONDS = 30.0


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


def openai_client(address: Address, key: Secret, config: EndpointConfig, timeout: float) -> openai.AsyncOpenAI:
    """Return the official client for an endpoint."""
    return openai.AsyncOpenAI(**_arguments(address, key, config, timeout))


def blocking_client(
    address: Address, key: Secret, config: EndpointConfig, timeout: float, *, retries: int
) -> openai.OpenAI:
    """Return the official client that blocks, and tries again by itself what may be asked twice."""
    return openai.OpenAI(**{**_arguments(address, key, config, timeout), "max_retries": retries})


def _arguments(address: Address, key: Secret, config: EndpointConfig, timeout: float) -> dict[str, Any]:
    headers: dict[str, str | openai.Omit] = dict(config.headers)
    if config.auth != "bearer" or not key.reveal():
        headers["Authorization"] = openai.Omit()
    if config.auth == "api-key" and key.reveal():
        headers["api-key"] = key.reveal()
    return {
        "api_key": key.reveal() or "none",
        "base_url": address.base_url,
        "max_retries": 0,
        "timeout": httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
        "default_query": address.query,
        "default_headers": headers,
    }


def request_headers(client: openai.AsyncOpenAI) -> dict[str, str]:
    """Return what the official client would send with every request: signature, organisation, project, itself."""
    # A header that is Omit is one the settings leave out.
    headers = {**client.auth_headers, **client.default_headers}
    return {name: value for name, value in headers.items() if isinstance(value, str)}
