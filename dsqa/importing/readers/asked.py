"""Which question a request asks, where a log has only requests: told by the text, named by its id if that says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dsqa.importing.readers.chat import as_text, asked_text

__all__ = ["Asked", "Questions", "asked_of", "said_run"]

_RUN = re.compile(
    r"(?P<stem>.*?)[-_.:/#| ]+(?:run|rep|repeat|repetition|sample|iter|iteration|trial|attempt|epoch|[nrski])?"
    r"[-_.:=#]?(?P<run>\d{1,6})",
    re.IGNORECASE,
)
_SAID_RUN = re.compile(
    r"(?P<stem>.+?)[-_.:/#| ]+(?:run|rep|repeat|repetition|iter|iteration|trial|attempt|epoch)"
    r"[-_.:=#]?(?P<run>\d{1,6})",
    re.IGNORECASE,
)
_SYSTEM = {"system", "developer"}
# Of a request's body: what is no parameter of its condition.
_NO_PARAMETERS = frozenset(
    {
        "model",
        "messages",
        "input",
        "instructions",
        "temperature",
        "n",
        "stream",
        "stream_options",
        "store",
        "metadata",
        "user",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "background",
        "previous_response_id",
    }
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request's body asks, in either API.

    Parameters
    ----------
    text
        The question: what the user's messages say.
    system
        What the system's messages say; "" where there are none.
    messages
        All that was sent.
    request
        The parameters, without model and temperature.
    """

    text: str
    system: str
    messages: list[Any]
    request: dict[str, Any]


def asked_of(body: Mapping[str, Any]) -> Asked:
    """Take a request's body apart."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        given = body.get("input")
        messages = [{"role": "user", "content": given}] if isinstance(given, str) else list(given or [])
        if body.get("instructions"):
            messages = [{"role": "system", "content": body["instructions"]}, *messages]
    spoken = [message for message in messages if isinstance(message, Mapping)]
    system = "\n\n".join(as_text(m.get("content")) for m in spoken if m.get("role") in _SYSTEM)
    parameters = {name: value for name, value in body.items() if name not in _NO_PARAMETERS and value is not None}
    return Asked(asked_text(spoken), system, spoken, parameters)


@dataclass(slots=True)
class Questions:
    """Names the questions of requests; sees all of them first, for the names must say one thing each."""

    _numbers: dict[bytes, int] = field(default_factory=dict)
    _stems: dict[str, bytes | None] = field(default_factory=dict)
    """What comes before the run's number in ids → the question, or None where it stands for several."""
    _stem_of: dict[bytes, str | None] = field(default_factory=dict)
    _systems: dict[bytes, set[bytes]] = field(default_factory=dict)

    def see(self, name: str, asked: Asked) -> None:
        """Take note of a request."""
        question = _hash(asked.text)
        self._numbers.setdefault(question, len(self._numbers) + 1)
        self._systems.setdefault(question, set()).add(_hash(asked.system))
        stem, _ = _split(name)
        if self._stems.setdefault(stem, question) != question:
            self._stems[stem] = None
        if self._stem_of.setdefault(question, stem) != stem:
            self._stem_of[question] = None

    def name(self, name: str, asked: Asked) -> tuple[str, int | None]:
        """Return a request's question and the number of its run, as far as its id says them.

        ``mean-run-3`` is run 3 of the question ``mean``, if all requests called ``mean-…`` ask the same. Else
        questions are numbered in their order, and runs have no number.
        """
        question = _hash(asked.text)
        stem, run = _split(name)
        says = self._stems.get(stem) == question
        named = self._stem_of.get(question)
        return (named if named and says else f"q{self._numbers[question]}"), (run if says else None)

    @property
    def several_systems(self) -> bool:
        """Whether a question was asked under several system messages, which are then part of the condition."""
        return any(len(systems) > 1 for systems in self._systems.values())


def _split(name: str) -> tuple[str, int | None]:
    match = _RUN.fullmatch(name)
    return (match["stem"], int(match["run"])) if match and match["stem"] else (name, None)


def said_run(name: str) -> tuple[str | None, int | None]:
    """Return stem and run of an id that says in words that it numbers runs (``mean-run-3``); (None, None) for others.

    Examples
    --------
    >>> said_run("mean-run-3"), said_run("request-12")
    (('mean', 3), (None, None))
    """
    match = _SAID_RUN.fullmatch(name)
    return (match["stem"], int(match["run"])) if match else (None, None)


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()
