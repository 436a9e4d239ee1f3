"""Tokens of a text, counted here: for estimates, and for endpoints that count none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

__all__ = ["count_bpe", "count_messages"]

_CHUNK = 50_000
_PER_MESSAGE = 4
_PER_REQUEST = 3


def count_bpe(text: str) -> int:
    """Return the number of ``o200k_base`` tokens of a text; special tokens written out count as text.

    The encoding is bundled with `bpe-openai`: nothing is downloaded.
    """
    encoding = _encoding()
    # In pieces: the encoder refuses long texts, and a cut shifts the count by one token at most.
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return sum(len(encoding.encode_ordinary(clean[i : i + _CHUNK])) for i in range(0, len(clean), _CHUNK))


def count_messages(messages: Iterable[Mapping[str, Any]]) -> int:
    """Return about how many input tokens messages come to: their text, four for each message, three in all.

    The four and the three are what OpenAI's chat format adds; other models' tokenisers differ by some per cent.
    """
    return _PER_REQUEST + sum(_PER_MESSAGE + count_bpe(str(message.get("content") or "")) for message in messages)


@cache
def _encoding() -> Any:
    # Here because importing it takes a second, which a study with usage and no code never needs.
    import bpe_openai  # noqa: PLC0415

    return bpe_openai.get_encoding("o200k_base")
