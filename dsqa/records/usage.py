"""Token counts as endpoints report them, whatever they call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["MOST_TOKENS", "UsageCounts", "usage_counts"]

MOST_TOKENS = 10**9
"""In one request. A larger number is no count: a column of 64 bits and a sum of them hold what is below."""


class UsageCounts(NamedTuple):
    """Tokens of one request; None where the endpoint did not say.

    Parameters
    ----------
    prompt
        Tokens read, the cached ones included.
    cached
        Those of `prompt` that came from the endpoint's cache.
    completion
        Tokens written, the reasoning included.
    reasoning
        Those of `completion` that were reasoning.
    """

    prompt: int | None
    cached: int | None
    completion: int | None
    reasoning: int | None


def usage_counts(usage: Mapping[str, Any] | None) -> UsageCounts:
    """Return the counts in a `usage` object of chat completions or of the Responses API.

    Chat completions say ``prompt_tokens`` and ``completion_tokens``, with ``prompt_tokens_details.cached_tokens``
    and ``completion_tokens_details.reasoning_tokens``; the Responses API says ``input_tokens`` and
    ``output_tokens``, with details likewise. DeepSeek counts the cached ones as ``prompt_cache_hit_tokens``. What is
    no count of tokens (below 0, a fraction, more than `MOST_TOKENS`, text) is unknown.
    """
    if not usage:
        return _UNKNOWN
    read, written = (
        _count(usage, "prompt_tokens", "input_tokens"),
        _count(usage, "completion_tokens", "output_tokens"),
    )
    about_read = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    about_written = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    cached = _count(about_read, "cached_tokens") if isinstance(about_read, dict) else None
    reasoning = _count(about_written, "reasoning_tokens") if isinstance(about_written, dict) else None
    return UsageCounts(
        read,
        _count(usage, "prompt_cache_hit_tokens") if cached is None else cached,
        written,
        _count(usage, "reasoning_tokens") if reasoning is None else reasoning,
    )


_UNKNOWN = UsageCounts(None, None, None, None)


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
            # Some endpoints write 12.0; half a token is no count.
            return int(value) if value == int(value) else None
    return None
