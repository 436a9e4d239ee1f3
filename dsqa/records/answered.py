"""Whether the model that answered is the one that was asked."""

from __future__ import annotations

import re

__all__ = ["same_model"]

_VERSION = re.compile(
    r"[-_:@.](?:\d{4}-\d{2}-\d{2}|\d{3,8}|v\d+|latest|preview|exp|free|beta|nitro|instruct|chat|it|gguf"
    r"|i?q\d\w*|f16|f32|bf16|fp8|int[48]|awq|gptq|mlx)$"
)
_SNAPSHOT = re.compile(r"\d{3,8}|\d{4}-\d{2}-\d{2}")


def same_model(asked: str, answered: str) -> bool:
    """Return whether two names are of one model, as far as names tell.

    A snapshot, a provider's name in front and the form of a file's weights make no other model; another snapshot than
    the one that was named does.

    Examples
    --------
    >>> same_model("gpt-4o", "gpt-4o-2024-08-06"), same_model("openai/gpt-35-turbo", "gpt-3.5-turbo-0125")
    (True, True)
    >>> same_model("gpt-4-turbo", "gpt-3.5-turbo-0125"), same_model("gpt-4o", "gpt-4o-mini")
    (False, False)
    >>> same_model("gpt-4-0613", "gpt-4-0314")
    False
    """
    (one, first), (other, second) = _base(asked), _base(answered)
    return one == other and (not first or not second or first == second)


def _base(name: str) -> tuple[str, str]:
    """Return a model's name without what says only which edition it is, and its snapshot."""
    bare = name.strip().casefold().replace("\\", "/").rstrip("/").rpartition("/")[2]
    snapshot = ""
    while (match := _VERSION.search(bare)) is not None:
        if _SNAPSHOT.fullmatch(match[0][1:]):
            snapshot = match[0][1:]
        bare = bare[: match.start()]
    return re.sub(r"[-_:@.\s]", "", bare), snapshot
