from __future__ import annotations

import asyncio
import json
import socket
import time
from email.utils import formatdate

import pytest

from dsqa.endpoints import PassingFailure, PermanentFailure, Scope, open_endpoint
from dsqa.endpoints.retry_after import retry_after_seconds
from dsqa.errors import EndpointError
from dsqa.study.sections import EndpointConfig
from tests.support.server import Fault, FaultServer, completion, error

KEY = "sk-test/Very+Secret=0123456789"
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "?"}], "temperature": 0.7, "top_k": 5}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("DSQA_TEST_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def ask(script=None, request=REQUEST, *, timeout=5.0, server_args=None, url=None):
    """One attempt; returns (reply or failure, server)."""

    async def main(base_url):
        config = EndpointConfig(base_url=base_url, api_key_env="DSQA_TEST_KEY")
        async with open_endpoint("e", config, timeout=timeout) as endpoint:
            try:
                return await endpoint.ask(request)
            except (PassingFailure, PermanentFailure) as failure:
                return failure

    with FaultServer(script, **(server_args or {})) as server:
        return asyncio.run(main(url or server.url)), server


def open_from_environment(url, monkeypatch):
    """Open an endpoint whose address no study has been checked for."""
    monkeypatch.setenv("OPENAI_BASE_URL", url)

    async def main():
        async with open_endpoint("e", EndpointConfig(api_key_env="DSQA_TEST_KEY"), timeout=5):
            pass

    asyncio.run(main())


def test_request_is_sent_as_it_is_and_the_answer_kept_whole():
    request = {**REQUEST, "messages": [{"role": "user", "content": "a lone \ud83d surrogate, Øß, \u2028"}]}
    reply, server = ask(request=request)
    assert server.seen[0].body == request
    assert server.seen[0].headers["Authorization"] == f"Bearer {KEY}"
    assert len(server.seen) == 1
    assert reply.status == "answered"
    assert reply.text == "answer 1"
    assert reply.usage == {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16, "x_ms": 1.5}
    assert reply.body["x_unknown"] == {"kept": True}
    assert (reply.response_id, reply.response_model, reply.finish_reason) == ("chatcmpl-1", "m-served", "stop")
    assert 0 < reply.seconds < 5


def test_seconds_is_the_time_to_the_last_byte():
    reply, _ = ask(server_args={"latency": 0.3})
    assert 0.3 <= reply.seconds < 2


@pytest.mark.parametrize(
    ("text", "message", "status"),
    [
        ("x", {"finish_reason": "length"}, "truncated"),
        ("", {"finish_reason": "length", "reasoning_content": "hm"}, "truncated"),
        (None, {}, "empty"),
        ("  \n", {}, "empty"),
        (None, {"tool_calls": [{"id": "t"}], "finish_reason": "tool_calls"}, "empty"),
        (None, {"refusal": "I cannot."}, "refused"),
        ("half", {"finish_reason": "content_filter"}, "filtered"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], {}, "answered"),
        ([{"type": "refusal", "refusal": "No."}], {}, "refused"),
        ("y", {"reasoning": "so"}, "answered"),
    ],
)
def test_answers_are_named_for_what_they_are(text, message, status):
    reply, _ = ask(lambda seen: completion(seen.number, "m", text, **message))
    assert reply.status == status
    assert reply.text == (text if isinstance(text, str) else "ab" if status == "answered" else "")
    assert reply.reasoning == (message.get("reasoning_content") or message.get("reasoning"))


def test_lone_surrogate_and_a_megabyte_come_through():
    text = "\ud83d" + "x" * 2**20
    reply, _ = ask(lambda seen: completion(1, "m", text))
    assert reply.text == text


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_passing_statuses(status):
    failure, server = ask(lambda _: error(status, "later", headers={"Retry-After": "7"}))
    assert isinstance(failure, PassingFailure)
    assert failure.status == status
    assert failure.retry_after == 7
    assert len(server.seen) == 1, "one ask is one attempt"


@pytest.mark.parametrize(
    ("answer", "scope", "kind", "says"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), Scope.ENDPOINT, "bad key", "does not accept the key"),
        (error(403, "no"), Scope.ENDPOINT, "bad key", "does not accept"),
        (error(402, "pay"), Scope.ENDPOINT, "no credit", "no credit"),
        (error(429, "quota", "insufficient_quota"), Scope.ENDPOINT, "no credit", "no credit"),
        (error(404, "The model `m` does not exist", "model_not_found"), Scope.MODEL, "unknown model", "'m'"),
        (error(404, 'model "m" not found, try pulling it first'), Scope.MODEL, "unknown model", "'m'"),
        (error(400, "m is not a valid model ID"), Scope.MODEL, "unknown model", "'m'"),
        (Fault(status=404, body="<html><h1>Not Found</h1></html>"), Scope.ENDPOINT, "not found", "Not Found"),
        (error(400, "Unsupported: 'top_k'", "unsupported_value"), Scope.PARAMETERS, "bad request", "top_k"),
        (Fault(status=422, body='{"detail": [{"msg": "extra"}]}'), Scope.PARAMETERS, "bad request", "extra"),
        (error(400, "maximum context length is 8", "context_length_exceeded"), Scope.REQUEST, "too long", "too long"),
        (error(400, "filtered", "content_filter"), Scope.REQUEST, "content filter", "content filter"),
        (Fault(status=403, body='{"error":{"message":"flagged","metadata":{"reasons":["x"]}}}'), Scope.REQUEST,
         "content filter", "flagged"),
    ],
)  # fmt: skip
def test_permanent_failures_and_what_they_rule_out(answer, scope, kind, says):
    failure, server = ask(lambda _: answer)
    assert isinstance(failure, PermanentFailure), failure
    assert (failure.scope, failure.kind) == (scope, kind)
    assert says in failure.message
    assert KEY not in f"{failure.message} {failure.hint} {failure.to_error()}"
    assert len(server.seen) == 1


def test_unknown_model_names_the_models_there_are():
    failure, _ = ask(lambda _: error(404, "model m does not exist"), server_args={"models": ("alpha", "beta")})
    assert failure.hint == "it has: alpha, beta"


def test_an_error_inside_a_200_is_an_error():
    failure, _ = ask(lambda _: {"error": {"code": 429, "message": "upstream busy"}})
    assert isinstance(failure, PassingFailure)
    assert failure.kind == "rate limit"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("drop"), "dropped"),
        (Fault("disconnect"), "dropped"),
        (Fault("trickle", delay=0.02), "timeout"),
        (Fault("hang", delay=3), "timeout"),
        (Fault(body="{truncated"), "malformed body"),
        (Fault(body=""), "malformed body"),
        (Fault(body="[]"), "malformed body"),
        (Fault(body='{"choices": []}'), "malformed body"),
        (Fault(body='{"choices": [{"message": null}]}'), "malformed body"),
        (Fault(body="[" * 100_000), "malformed body"),
    ],
)
def test_broken_answers_are_worth_another_try(fault, kind):
    begun = time.monotonic()
    failure, _ = ask(lambda _: fault, timeout=1.0)
    assert isinstance(failure, PassingFailure), failure
    assert failure.kind == kind
    assert time.monotonic() - begun < 8, "bytes that trickle in do not stretch the time limit"


def test_unreachable_is_said_at_once():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, not listening: refuses
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with pytest.raises(EndpointError, match="cannot be reached") as caught:
            ask(url=url)
    assert url in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://x/v1", "127.0.0.1:8000", "http://"])
def test_an_address_that_is_none(url, monkeypatch):
    with pytest.raises(EndpointError, match="no http"):
        open_from_environment(url, monkeypatch)


def test_missing_key_names_the_variable(monkeypatch):
    monkeypatch.delenv("DSQA_TEST_KEY")
    with pytest.raises(EndpointError, match="DSQA_TEST_KEY is not set"):
        ask(url="https://endpoint.invalid/v1")
    # On this machine none is needed.
    reply, server = ask()
    assert reply.text == "answer 1"
    assert "Authorization" not in server.seen[0].headers


def test_a_key_that_cannot_be_one(monkeypatch):
    monkeypatch.setenv("DSQA_TEST_KEY", "sk-a b")
    with pytest.raises(EndpointError, match="cannot be a key") as caught:
        ask()
    assert "sk-a" not in str(caught.value)


def test_key_echoed_by_the_endpoint_reaches_nothing():
    # Plain, JSON-escaped, and half starred as OpenAI quotes it.
    reply, _ = ask(lambda seen: completion(1, "m", f"you sent {seen.headers['Authorization']}"))
    assert KEY not in json.dumps(reply.body)
    assert reply.text == "you sent Bearer ***"
    escaped = KEY.replace("/", "\\/")
    body = f'{{"choices": [{{"message": {{"content": "{escaped}"}}, "finish_reason": "stop"}}]}}'
    reply, _ = ask(lambda _: Fault(body=body))
    assert reply.text == "***"
    failure, _ = ask(lambda _: error(401, "Incorrect API key provided: sk-test****6789."))
    assert "6789" not in failure.message


def test_credentials_in_the_address_are_refused_and_not_repeated(monkeypatch):
    with pytest.raises(EndpointError, match="no user or password") as caught:
        open_from_environment("http://user:hunter2@127.0.0.1:9/v1", monkeypatch)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": formatdate(1_000_060, usegmt=True)}, 60),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_retry_after_in_all_its_forms(headers, seconds):
    assert retry_after_seconds(headers, now=1_000_000) == seconds


def test_a_date_to_wait_for_is_read_by_the_endpoints_own_clock():
    headers = {"retry-after": formatdate(5_000_060, usegmt=True), "date": formatdate(5_000_000, usegmt=True)}
    assert retry_after_seconds(headers) == 60
    assert retry_after_seconds({**headers, "date": "yesterday"}) == 0
