"""The key: read from the environment, and kept out of everything else."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from dsqa.errors import EndpointError
from dsqa.study.sections import EndpointConfig

__all__ = ["Secret", "is_local", "read_key", "without_credentials"]

# Endpoints quote keys cut or starred ("sk-ab***yz"): what is left of one is nobody's business either.
_LOOKS_LIKE_A_KEY = re.compile(r"\b(sk|pk|rk|key|gsk|xai)-[A-Za-z0-9_*.•/+=-]{8,}")
_STRUCK = "***"
_SHORTEST_ENCODED = 8
"""Characters. Encoded, a shorter key ("none", "EMPTY") is a few letters that any text may hold."""
_DECODINGS = 3
"""Times that a text may be encoded over itself and the key in it still be found."""
_ESCAPED = re.compile(r"\\+(?:u\{?([0-9a-fA-F]{2,6})\}?|x([0-9a-fA-F]{2})|(.))", re.S)


class Secret:
    """A key that does not show itself and can be struck out of a text, however it is written there.

    Found are the key itself; the key with some or all of its characters escaped as in JSON, Python, URLs or HTML,
    also several times over; and the whole of it in base64 (at any place in what was encoded, as in ``Basic``
    signatures) or hexadecimal.
    """

    def __init__(self, value: str | None) -> None:
        self._value = value or ""
        # As it stands, and as JSON with or without escaped slashes would write it.
        quoted = json.dumps(self._value)[1:-1]
        forms = {self._value, quoted, quoted.replace("/", "\\/")} if self._value else set()
        self._forms = sorted(forms, key=len, reverse=True)
        encoded = self._value if len(self._value) >= _SHORTEST_ENCODED else ""
        self._cores = _base64_cores(encoded.encode()) if encoded else ()
        self._hex = encoded.encode().hex()
        self._escaped = re.compile("".join(map(_in_any_form, encoded))) if encoded else None

    def __repr__(self) -> str:
        return "Secret(***)" if self._value else "Secret(none)"

    def reveal(self) -> str:
        """Return the key itself, for the request's header only."""
        return self._value

    def strike(self, text: str) -> str:
        """Return `text` with the key replaced by ``***``."""
        text = self._without_plain(text)
        if self._escaped is None or not ("\\" in text or "%" in text or "&" in text):
            return text
        if any(self._is_in(plain) for plain in _decoded(text)):
            text = self._escaped.sub(_STRUCK, text)
            for plain in _decoded(text):
                if self._is_in(plain):
                    # Encoded in a way of its own: what it decodes to is kept instead.
                    return self._without_plain(plain)
        return text

    def strike_value(self, value: Any) -> Any:
        """Return JSON-able data with the key struck out of every text in it, names of fields included."""
        if isinstance(value, str):
            return self.strike(value)
        if isinstance(value, dict):
            return {self.strike(name): self.strike_value(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self.strike_value(part) for part in value]
        return value

    def strike_message(self, text: str) -> str:
        """Return an error message with the key, and whatever looks like part of one, replaced by ``***``."""
        return _LOOKS_LIKE_A_KEY.sub(rf"\1-{_STRUCK}", self.strike(text))

    def _is_in(self, text: str) -> bool:
        return self._value in text or self._hex in text.lower() or any(core in text for core in self._cores)

    def _without_plain(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, _STRUCK)
        for core in self._cores:
            if core in text:
                text = re.sub(rf"[A-Za-z0-9+/_-]*{re.escape(core)}[A-Za-z0-9+/_-]*=*", _STRUCK, text)
        if self._hex and self._hex in text.lower():
            text = re.sub(self._hex, _STRUCK, text, flags=re.I)
        return text


def _decoded(text: str) -> list[str]:
    """Return what a text decodes to, once and several times over."""
    found = []
    for _ in range(_DECODINGS):
        plain = unquote(_ESCAPED.sub(_character, text))
        plain = html.unescape(plain) if "&" in plain else plain
        if plain == text:
            break
        text = plain
        found.append(text)
    return found


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is None:
        return match[3] if match[3] in "/\\\"'" else match[0]
    number = int(code, 16)
    return chr(number) if number <= 0x10FFFF else match[0]


def _in_any_form(character: str) -> str:
    code = ord(character)
    two, four = f"{code:02x}", f"{code:04x}"
    forms = [
        re.escape(character),
        rf"\\+u\{{?(?i:{four}|{two})\}}?",
        rf"\\+x(?i:{two})",
        rf"\\+{re.escape(character)}",
        rf"%(?:25)*(?i:{two})",
        rf"&(?:amp;)*#(?:0*{code}|[xX]0*(?i:{code:x}));",
    ]
    return f"(?:{'|'.join(forms)})"


def _base64_cores(key: bytes) -> tuple[str, ...]:
    """Return what every base64 text that encodes the key somewhere holds, in both alphabets: one per alignment."""
    cores = set()
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + key).rstrip(b"=").decode()
        # The characters at either end are shared with what stands before and after the key.
        start = -(-before * 8 // 6)
        bits = (before + len(key)) * 8
        core = whole[start : bits // 6]
        cores |= {core, core.replace("+", "-").replace("/", "_")}
    return tuple(sorted(cores))


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
