"""An answer that comes in pieces, put together as if it had come whole.

A server that streams shows that it is at work: silence tells "dead" from "slow", and a connection that is closed ends
the work at the server. The format is that of chat completions with ``stream: true``: server-sent events, one JSON
object each, ``[DONE]`` at the end [1]_.

References
----------
.. [1] OpenAI, API reference, "Streaming"; WHATWG, HTML Living Standard, section 9.2 (server-sent events).
"""

from __future__ import annotations

from typing import Any

from dsqa.endpoints.reply import MalformedReplyError
from dsqa.foreign import read_json

__all__ = ["StreamedAnswer", "streamed"]

_DONE = "[DONE]"
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


def streamed(request: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a chat completion that is to come in pieces, with its usage at the end."""
    return {**request, "stream": True, "stream_options": {"include_usage": True}}


class StreamedAnswer:
    """Puts the events of one answer together."""

    def __init__(self) -> None:
        self._body: dict[str, Any] = {}
        self._choices: dict[int, dict[str, Any]] = {}
        self._parts: dict[tuple[int, str], list[str]] = {}
        self._rest = b""
        self._data: list[str] = []
        self.pieces = 0
        """Events with a piece of an answer so far: about as many as tokens."""
        self.ended = False
        """The last event has come."""

    def feed(self, content: bytes) -> None:
        """Take the next bytes.

        Raises
        ------
        MalformedReplyError
            An event is not JSON.
        """
        *lines, self._rest = (self._rest + content).replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            if not line.strip():
                self._end_event()
            elif line.startswith(b"data:"):
                self._data.append(line[5:].decode("utf-8", "replace").strip())

    def body(self) -> dict[str, Any]:
        """Return the answer as one that came whole.

        Raises
        ------
        MalformedReplyError
            It broke off before its end.
        """
        self.feed(b"\n\n")
        if self._body.get("error"):
            return self._body
        unended = [choice for choice in self._choices.values() if choice.get("finish_reason") is None]
        if not self.ended and (unended or not self._choices):
            raise MalformedReplyError("the stream broke off before the answer was whole")
        for (index, name), parts in self._parts.items():
            self._choices[index]["message"][name] = "".join(parts)
        choices = [choice for _, choice in sorted(self._choices.items())]
        return {**self._body, "choices": choices} if choices else self._body

    def _end_event(self) -> None:
        if not self._data:
            return
        text, self._data = "\n".join(self._data), []
        if text == _DONE:
            self.ended = True
            return
        try:
            event = read_json(text)
        except ValueError:
            raise MalformedReplyError("an event of the stream is not JSON") from None
        if not isinstance(event, dict):
            raise MalformedReplyError("an event of the stream is no object")
        choices = event.pop("choices", None)
        self._body.update({name: value for name, value in event.items() if value is not None})
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                self._add(choice)

    def _add(self, piece: dict[str, Any]) -> None:
        index = piece.get("index")
        index = index if isinstance(index, int) else 0
        choice = self._choices.setdefault(index, {"index": index, "message": {"role": "assistant", "content": None}})
        choice["finish_reason"] = piece.get("finish_reason") or choice.get("finish_reason")
        delta = piece.get("delta") or piece.get("message")
        for name in _TEXTS:
            text = delta.get(name) if isinstance(delta, dict) else None
            if isinstance(text, str):
                self._parts.setdefault((index, name), []).append(text)
                self.pieces += bool(text)
