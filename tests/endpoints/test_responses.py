"""The Responses API: what is sent, and every kind of answer."""

from __future__ import annotations

import json

import pytest

from dsqa.endpoints import PassingFailure, PermanentFailure, Scope
from dsqa.endpoints.responses import response_request
from dsqa.errors import StudyError
from dsqa.metrics.verbosity import count_tokens
from dsqa.records import Record, usage_counts
from dsqa.study.parse import parse_study
from tests.endpoints.conftest import REQUEST, ask_all
from tests.support.server import Fault, error, response


def ask(script=None, request=REQUEST, **settings):
    (outcome,), seen = ask_all(script, request, api="responses", **settings)
    return outcome, seen


def test_a_planned_request_is_written_as_one_for_the_responses_api():
    request = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "2 + 2?"},
            {"role": "assistant", "content": "4"},
            {"role": "user", "content": "a lone \ud83d surrogate"},
        ],
        "temperature": 0.2,
        "max_tokens": 300,
        "reasoning_effort": "low",
        "verbosity": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}},
        "top_p": 0.9,
    }
    sent = {
        "model": "m",
        "instructions": "Be brief.",
        "input": request["messages"][1:],
        "store": False,
        "temperature": 0.2,
        "max_output_tokens": 300,
        "reasoning": {"effort": "low"},
        "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "a", "schema": {}}},
        "top_p": 0.9,
    }
    assert response_request(request) == sent
    (reply,), seen = ask(request=request)
    assert seen[0].path == "/v1/responses"
    assert seen[0].body == sent
    assert reply.request == sent, "the record says what was sent"


def test_native_parameters_go_as_they_are_and_the_study_decides_on_store():
    base = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    body = response_request({**base, "max_output_tokens": 5, "reasoning": {"summary": "auto"}, "store": True})
    assert body["max_output_tokens"] == 5
    assert body["reasoning"] == {"summary": "auto"}
    assert body["store"] is True
    assert "instructions" not in body


def test_parts_of_a_message_get_their_other_names():
    parts = [
        {"type": "text", "text": "what?"},
        {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}},
    ]
    body = response_request({"model": "m", "messages": [{"role": "user", "content": parts}]})
    assert body["input"][0]["content"] == [
        {"type": "input_text", "text": "what?"},
        {"type": "input_image", "image_url": "data:x", "detail": "low"},
    ]


def test_an_answer_with_everything_in_it():
    output = [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "I"}, {"type": "summary_text", "text": "J"}],
        },
        {"type": "web_search_call", "id": "w", "status": "completed"},
        {"type": "message", "content": [{"type": "output_text", "text": "one "}]},
        {"type": "function_call", "name": "f", "arguments": "{}"},
        {"type": "message", "content": [{"type": "output_text", "text": "two"}, {"type": "new_part"}]},
    ]
    (reply,), _ = ask(lambda seen: response(1, "m", None, output=output))
    assert (reply.status, reply.text, reply.reasoning) == ("answered", "one two", "I\n\nJ")
    assert (reply.finish_reason, reply.response_id, reply.response_model) == ("stop", "resp_1", "m-served")
    assert usage_counts(reply.usage) == (11, 4, 5, 2)
    assert reply.body["output"] == output


@pytest.mark.parametrize(
    ("fields", "status", "finish", "text"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "truncated", "length", "x"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
         "filtered", "content_filter", "x"),
        # Reasoning ate every token: no message at all.
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"},
          "output": [{"type": "reasoning", "summary": []}]}, "truncated", "length", ""),
        ({"output": []}, "empty", "stop", ""),
        ({"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]},
         "refused", "stop", ""),
        ({"output": [{"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}], "summary": []},
                     {"type": "message", "content": [{"type": "output_text", "text": "x"}]}]},
         "answered", "stop", "x"),
    ],
)  # fmt: skip
def test_answers_are_named_for_what_they_are(fields, status, finish, text):
    (reply,), _ = ask(lambda seen: response(1, "m", "x", **fields))
    assert (reply.status, reply.finish_reason, reply.text) == (status, finish, text)
    assert reply.refusal == ("No." if status == "refused" else None)


@pytest.mark.parametrize(
    ("answer", "kind", "passing"),
    [
        (lambda: response(1, "m", "x", status="failed", error={"code": "server_error", "message": "o"}),
         "server error", True),
        (lambda: response(1, "m", "x", status="failed", error={"code": "rate_limit_exceeded", "message": "o"}),
         "rate limit", True),
        (lambda: response(1, "m", "x", status="failed", error={"code": "invalid_prompt", "message": "flagged"}),
         "content filter", False),
        (lambda: response(1, "m", "x", status="in_progress"), "malformed body", True),
        (lambda: Fault(body='{"id": "r", "output": "text"}'), "malformed body", True),
        (lambda: error(404, "no such path"), "not found", False),
    ],
)  # fmt: skip
def test_failures_of_the_responses_api(answer, kind, passing):
    failure, _ = ask(lambda seen: answer())
    assert isinstance(failure, PassingFailure if passing else PermanentFailure)
    assert failure.kind == kind
    assert failure.request == response_request(REQUEST)
    if kind == "content filter":
        assert failure.scope is Scope.REQUEST
    if kind == "not found":
        assert "Responses API" in failure.message


def test_a_record_of_either_api_has_the_same_messages_and_token_counts():
    """What marks a run must not see a difference."""
    asked = {"model": "m", "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "two words"}]}
    common = {"question_id": "q", "condition_id": "c", "run": 0, "prompt_hash": "h", "condition": {}}
    chat = Record(**common, request=asked, status="answered")
    responses = Record(**common, request=response_request(asked), status="answered")
    assert responses.messages == chat.messages == asked["messages"]
    assert Record(**common, request={"input": "hello"}, status="answered").messages[0]["content"] == "hello"
    assert Record(**common, request={}, status="answered").messages == []
    usage = {"input_tokens": 11, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 4}}
    counts = count_tokens(usage, prompt=None, response="a b", text_part="a b")
    assert (counts.prompt, counts.text, counts.total, counts.source) == (11, 5, 9, "usage")


@pytest.mark.parametrize(
    ("api", "name", "says"),
    [("responses", "seed", "no parameter of the Responses API"), ("chat", "max_output_tokens", "api: responses")],
)
def test_a_study_is_told_which_parameters_its_api_does_not_have(api, name, says):
    study = {"name": "s", "models": ["m"], "endpoints": {"default": {"api": api}}, "request": {name: 5}}
    with pytest.raises(StudyError, match=says):
        parse_study(json.dumps(study))
