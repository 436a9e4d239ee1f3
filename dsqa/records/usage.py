"""Token counts as endpoints report them, whatever they call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["UsageCounts", "usage_counts"]


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
    ``output_tokens``, with details likewise. DeepSeek counts the cached ones as ``prompt_cache_hit_tokens``.
    """
    if usage is None:
        return UsageCounts(None, None, None, None)
    read = _first(usage, ("prompt_tokens",), ("input_tokens",))
    cached = _first(
        usage,
        ("prompt_tokens_details", "cached_tokens"),
        ("input_tokens_details", "cached_tokens"),
        ("prompt_cache_hit_tokens",),
    )
    written = _first(usage, ("completion_tokens",), ("output_tokens",))
    reasoning = _first(
        usage,
        ("completion_tokens_details", "reasoning_tokens"),
        ("output_tokens_details", "reasoning_tokens"),
        ("reasoning_tokens",),
    )
    return UsageCounts(read, cached, written, reasoning)


def _first(usage: Mapping[str, Any], *paths: tuple[str, ...]) -> int | None:
    for path in paths:
        value: Any = usage
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
