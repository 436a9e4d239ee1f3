"""Streams put together: the same reply as from an answer that came whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.endpoints import PassingFailure, read_replies
from dsqa.endpoints.reply import MalformedReplyError
from dsqa.endpoints.streaming import StreamedAnswer
from tests.endpoints.conftest import KEY, REQUEST, ask_all
from tests.support.server import Fault


def events(*data: object, end: str = "\n\n") -> bytes:
    return "".join(f"data: {text if isinstance(text, str) else json.dumps(text)}{end}" for text in data).encode()


def piece(text: str | None = None, finish: str | None = None, index: int = 0, **more: str) -> dict:
    delta = ({} if text is None else {"content": text}) | more
    return {"id": "c1", "model": "m-7", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


USAGE = {"id": "c1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


@given(st.text(), st.lists(st.integers(1, 40), max_size=30), st.sampled_from(["\n\n", "\r\n\r\n"]))
def test_any_text_cut_anywhere_is_put_together(text, cuts, end):
    whole = events(
        piece(role="assistant"),
        *(piece(character) for character in text),
        piece(finish="stop"),
        USAGE,
        "[DONE]",
        end=end,
    )
    answer = StreamedAnswer()
    for cut in cuts:
        answer.feed(whole[:cut])
        whole = whole[cut:]
    answer.feed(whole)
    (reply,) = read_replies(answer.body(), 1.0)
    assert reply.text == text
    assert (reply.finish_reason, reply.response_id, reply.response_model) == ("stop", "c1", "m-7")
    assert reply.usage == USAGE["usage"]
    assert answer.pieces == len(text)


def test_choices_reasoning_comments_and_missing_marks():
    answer = StreamedAnswer()
    answer.feed(b": keep-alive\n\nevent: message\n")
    answer.feed(events(piece("b", index=1), piece("a"), piece(None, "length", reasoning_content="hm")))
    answer.feed(events(piece(None, "stop", index=1)))
    replies = read_replies(answer.body(), 1.0)
    assert [(r.text, r.status, r.reasoning) for r in replies] == [("a", "truncated", "hm"), ("b", "answered", None)]


@pytest.mark.parametrize("content", [b"", events(piece("a")), events(piece("a"), piece("b"))[:-9]])
def test_a_stream_without_an_end_is_no_answer(content):
    answer = StreamedAnswer()
    answer.feed(content)
    with pytest.raises(MalformedReplyError):
        answer.body()


def stream(content: bytes) -> Fault:
    return Fault(how="bytes", headers={"Content-Type": "text/event-stream"}, data=content)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (events(piece("a")), "dropped"),
        (events("not json"), "malformed body"),
        (events("[1]"), "malformed body"),
        (b"", "malformed body"),
        (events(piece("a"), {"error": {"message": "overloaded", "code": 503}}), "server error"),
    ],
)
def test_a_broken_stream_is_worth_another_try(content, kind):
    ((failure,), _) = ask_all(lambda _seen: stream(content), REQUEST, stream="always")
    assert (type(failure), failure.kind) == (PassingFailure, kind)


def test_the_key_is_struck_where_it_comes_in_pieces():
    content = events(*(piece(character) for character in f"it is {KEY}"), piece(finish="stop"), "[DONE]")
    ((replies,), seen) = ask_all(lambda _seen: stream(content), REQUEST, stream="always")
    assert replies[0].text == "it is ***"
    assert seen[0].body["stream"] is True


def test_a_server_that_does_not_stream_answers_as_ever():
    ((replies,), _) = ask_all(None, REQUEST, stream="always")
    assert replies[0].text == "answer 1"
