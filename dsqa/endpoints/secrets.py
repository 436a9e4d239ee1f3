"""The key: read from the environment, and kept out of everything else."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from dsqa.errors import EndpointError
from dsqa.study.sections import EndpointConfig

__all__ = ["Secret", "is_local", "read_key", "without_credentials"]

# Endpoints quote keys cut or starred ("sk-ab***yz"): what is left of one is nobody's business either.
_LOOKS_LIKE_A_KEY = re.compile(r"\b(sk|pk|rk|key|gsk|xai)-[A-Za-z0-9_*.•/+=-]{8,}")


class Secret:
    """A key that does not show itself and can be struck out of a text."""

    def __init__(self, value: str | None) -> None:
        self._value = value or ""
        # As it stands, and as JSON with or without escaped slashes would write it.
        quoted = json.dumps(self._value)[1:-1]
        forms = {self._value, quoted, quoted.replace("/", "\\/")} if self._value else set()
        self._forms = sorted(forms, key=len, reverse=True)

    def __repr__(self) -> str:
        return "Secret(***)" if self._value else "Secret(none)"

    def reveal(self) -> str:
        """Return the key itself, for the request's header only."""
        return self._value

    def strike(self, text: str) -> str:
        """Return `text` with the key replaced by ``***``."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, "***")
        return text

    def strike_message(self, text: str) -> str:
        """Return an error message with the key, and whatever looks like part of one, replaced by ``***``."""
        return _LOOKS_LIKE_A_KEY.sub(r"\1-***", self.strike(text))


def is_local(base_url: str) -> bool:
    """Whether a URL names this machine."""
    host = urlsplit(base_url).hostname or ""
    return host in {"localhost", "::1", "0.0.0.0"} or host.startswith("127.")  # noqa: S104


def without_credentials(url: str) -> str:
    """Return a URL without user, password, fragment and whatever of its query is not the API's version."""
    parts = urlsplit(url)
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name == "api-version"])
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))


def read_key(name: str, config: EndpointConfig, base_url: str) -> Secret:
    """Return the key of an endpoint from the environment variable its settings name.

    Raises
    ------
    EndpointError
        The variable is not set (and the endpoint is not on this machine), or cannot be a header's value.
    """
    variable = config.api_key_env
    if variable is None or config.auth == "none":
        return Secret(None)
    value = os.environ.get(variable, "").strip()
    if not value:
        if is_local(base_url):
            return Secret(None)
        raise EndpointError(
            f"endpoint '{name}' ({without_credentials(base_url)}) needs a key, and {variable} is not set",
            hint=f"export {variable}=… in this shell, or name another variable as api_key_env",
        )
    if not value.isascii() or not value.isprintable() or " " in value:
        raise EndpointError(
            f"the value of {variable} cannot be a key: it holds blanks or other than plain characters",
            hint="copy the key again, without quotes",
        )
    return Secret(value)
