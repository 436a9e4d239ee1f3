"""Verbosity: how long a text is, in words and in tokens, and input ÷ output.

Words
-----
A word is a run of letters and digits, with hyphens and apostrophes inside (``don't``, ``data-driven``); a number
with its separators (``1,234.5``) is one word. Punctuation is not counted. This needs no download, and its time is
linear; nltk's word tokeniser finds the same words in plain sentences, punctuation apart and with contractions split
in two.

Tokens
------
The endpoint's own counts where it gives them, so that they are the tokens that were paid for. The paper counts the
text part of a response, code left out: where a response has a part left out, the endpoint's count (reasoning tokens
subtracted) is apportioned by the text's share of BPE tokens. Where the endpoint gives no usage, BPE tokens are
counted. The BPE is ``o200k_base``, bundled with `bpe-openai`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dsqa.records import usage_counts
from dsqa.tokens import count_bpe

__all__ = ["TokenCounts", "count_bpe", "count_tokens", "ratio", "words"]

_WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:['’-]\w+)*")

TokenSource = Literal["usage", "usage-apportioned", "bpe"]


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of one run.

    Parameters
    ----------
    prompt
        Of the prompt; None where neither usage nor the messages are known.
    text
        Of the response's text part.
    total
        Of the whole response, code and reasoning included.
    source
        Where the counts come from.
    """

    prompt: int | None
    text: int
    total: int
    source: TokenSource


def words(text: str) -> list[str]:
    """Return the words of a text, in order."""
    return _WORD.findall(text)


def count_tokens(
    usage: Mapping[str, Any] | None,
    *,
    prompt: str | int | None,
    response: str,
    text_part: str,
    reasoning: str = "",
) -> TokenCounts:
    """Count a run's tokens.

    Parameters
    ----------
    usage
        The endpoint's ``usage``: ``prompt_tokens``, ``completion_tokens`` and, where it has them,
        ``completion_tokens_details.reasoning_tokens``.
    prompt
        The prompt's text, or its BPE count if that is known, for where usage has none.
    response
        The whole response, as it came.
    text_part
        The response without code and reasoning.
    reasoning
        A separate reasoning field, if there is one.

    Returns
    -------
    TokenCounts
    """
    counted, _, completion, hidden = usage_counts(usage)
    source: TokenSource = "usage"
    if counted is None:
        counted = count_bpe(prompt) if isinstance(prompt, str) else prompt
        source = "bpe"
    if completion is None:
        return TokenCounts(counted, count_bpe(text_part), count_bpe(response) + count_bpe(reasoning), "bpe")
    visible = max(completion - (hidden or 0), 0)
    if not text_part.strip():
        return TokenCounts(counted, 0, completion, source)
    # Whitespace around the text is no part left out.
    if text_part.strip() == response.strip() and not (reasoning and hidden is None):
        return TokenCounts(counted, visible, completion, source)
    whole = count_bpe(response) + (count_bpe(reasoning) if hidden is None else 0)
    share = count_bpe(text_part.strip()) / whole
    apportioned = min(round(visible * share), visible)
    return TokenCounts(counted, apportioned, completion, "bpe" if source == "bpe" else "usage-apportioned")


def ratio(incoming: int | None, outgoing: int | None) -> float | None:
    """Return input ÷ output, or None where either is unknown or nothing came out: never infinite."""
    return None if incoming is None or not outgoing else incoming / outgoing
