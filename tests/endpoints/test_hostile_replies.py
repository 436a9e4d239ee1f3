"""What an endpoint may send, and what must become of it."""

from __future__ import annotations

import base64
import gzip
import json
import resource
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.endpoints import PassingFailure, PermanentFailure, Scope
from dsqa.endpoints.secrets import Secret
from dsqa.endpoints.transport import MOST_BYTES
from dsqa.records import usage_counts
from tests.endpoints.test_chat import KEY, ask
from tests.support.server import Fault, completion, error


def raw(body: bytes, **headers: str) -> Fault:
    return Fault(how="bytes", data=body, headers=headers)


def answer(text: str) -> bytes:
    return json.dumps(completion(1, "m", text)).encode()


@pytest.mark.parametrize("packed", [True, False])
def test_a_response_larger_than_the_cap_is_a_failure_of_its_own(packed):
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if packed:
        # Members one after another are one stream; made so, the bomb takes no memory here either.
        bomb = gzip.compress(b" " * MOST_BYTES, 1) * 8 + gzip.compress(answer("3"))
        assert len(bomb) < 2 << 20
        reply, _ = ask(lambda _seen: raw(bomb, **{"Content-Encoding": "gzip"}), timeout=60)
    else:
        reply, server = ask(lambda _seen: Fault(how="endless", data=b" " * (1 << 20)), timeout=60)
        assert server.endless < 2 * MOST_BYTES
    assert isinstance(reply, PermanentFailure)
    assert (reply.kind, reply.scope, reply.status) == ("too large", Scope.REQUEST, 200)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun) * 1024
    assert grown < 4 * MOST_BYTES


def test_a_large_answer_below_the_cap_is_read():
    text = "long " * 400_000
    reply, _ = ask(lambda _seen: completion(1, "m", text), timeout=60)
    assert reply.text == text


def test_an_error_without_an_end_is_named_for_its_status():
    body = b'{"error": {"message": "overloaded"}, "more": "' + b"x" * 100_000
    reply, _ = ask(lambda _seen: Fault(how="endless", status=503, data=body), timeout=60)
    assert isinstance(reply, PassingFailure)
    assert reply.status == 503
    assert len(reply.message) < 400


def test_a_byte_order_mark_before_json_is_passed_over():
    reply, _ = ask(lambda _seen: raw(b"\xef\xbb\xbf" + answer("3")))
    assert reply.text == "3"


@pytest.mark.parametrize(
    ("written", "kept", "count"),
    [
        ("12", 12, 12),
        ("12.0", 12.0, 12),
        ("12.5", 12.5, None),
        ("-3", -3, None),
        ("1" + "0" * 25, "1" + "0" * 25, None),
        ("1" + "0" * 400, "1" + "0" * 400, None),
        ("9" * 6000, "9" * 6000, None),
        ("1e400", float("inf"), None),
        ("NaN", "NaN", None),
        ("1e18", 1e18, None),
        ("true", True, None),
        ('"12"', "12", None),
        ("null", None, None),
        ("[1]", [1], None),
    ],
)
def test_a_token_count_that_is_none_is_kept_and_unknown(written, kept, count):
    body = answer("3").replace(b'"completion_tokens": 5', b'"completion_tokens": ' + written.encode())
    reply, _ = ask(lambda _seen: raw(body))
    assert reply.usage["completion_tokens"] == kept
    assert usage_counts(reply.usage).completion == count


def test_deep_nesting_is_a_malformed_body():
    reply, _ = ask(lambda _seen: raw(b'{"choices": ' + b"[" * 200_000))
    assert (type(reply), reply.kind) == (PassingFailure, "malformed body")


def double(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


FORMS = {
    "raw": KEY,
    "json": json.dumps(KEY),
    "json, slashes": KEY.replace("/", "\\/"),
    "unicode escapes": "".join(f"\\u{ord(c):04X}" for c in KEY),
    "one escape": KEY.replace("+", "\\u002B"),
    "escaped twice": KEY.replace("+", "\\\\u002b"),
    "python": "".join(f"\\x{ord(c):02x}" for c in KEY),
    "url": quote(KEY, safe=""),
    "url, lower case": quote(KEY, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
    "url, slash kept": quote(KEY),
    "url, every byte": double(KEY),
    "url twice": quote(quote(KEY, safe=""), safe=""),
    "html": "".join(f"&#{ord(c)};" for c in KEY),
    "html, hexadecimal": "".join(f"&#x{ord(c):X};" for c in KEY),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64, one before": base64.b64encode(b":" + KEY.encode()).decode(),
    "base64, basic": base64.b64encode(b"user:" + KEY.encode() + b"\n").decode(),
    "base64, url alphabet": base64.urlsafe_b64encode(b"ab" + KEY.encode()).decode(),
    "base64 in a url": quote(base64.b64encode(KEY.encode()).decode(), safe=""),
    "hexadecimal": KEY.encode().hex(),
    "hexadecimal, capitals": KEY.encode().hex().upper(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("place", ["text", "json escapes", "finish", "model", "usage", "name", "error"])
def test_the_key_is_struck_in_every_form_and_place(form, place):
    said = f"your key is {form}, is it not?"
    body = completion(1, "m", "3")
    fault = None
    if place == "text":
        body["choices"][0]["message"]["content"] = said
    elif place == "json escapes":
        escaped = "".join(f"\\u{ord(c):04x}" for c in said)
        fault = raw(json.dumps(completion(1, "m", "TEXT")).replace("TEXT", escaped).encode())
    elif place == "finish":
        body["choices"][0]["finish_reason"] = said
    elif place == "model":
        body["model"] = said
    elif place == "usage":
        body["usage"]["x"] = [said]
    elif place == "name":
        body["usage"] = {said: 1}
    else:
        fault = error(500, said)
    reply, _ = ask(lambda _seen: body if fault is None else fault)
    shown = f"{reply!r} {getattr(reply, 'message', '')} {getattr(reply, 'body', '')}"
    assert form not in shown
    assert KEY not in shown
    assert "***" in shown


@settings(max_examples=40)
@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=60),
    st.text(max_size=20),
    st.text(max_size=20),
    st.sampled_from(
        [
            lambda k: k,
            lambda k: json.dumps(k)[1:-1],
            lambda k: quote(k, safe=""),
            lambda k: quote(quote(k, safe=""), safe=""),
            lambda k: base64.b64encode(b"xy" + k.encode() + b"z").decode(),
            lambda k: base64.urlsafe_b64encode(k.encode()).decode(),
            lambda k: k.encode().hex(),
        ]
    ),
)
def test_any_key_is_struck_wherever_it_stands(key, before, after, encode):
    struck = Secret(key).strike(f"{before} {encode(key)} {after}")
    assert encode(key) not in struck
    assert key not in struck


@given(st.text(max_size=200))
def test_a_text_without_the_key_stays_as_it_is(text):
    assert Secret("sk-0123456789abcdefghij").strike(text) == text


@pytest.mark.parametrize("key", ["EMPTY", "none", "x"])
def test_a_placeholder_for_a_key_is_not_looked_for_in_other_forms(key):
    text = base64.b64encode(key.encode() * 3).decode() + " %45 \\u0045"
    assert Secret(key).strike(text) == text


def test_a_terminal_is_not_commanded_by_an_error_message():
    reply, _ = ask(lambda _seen: error(400, "no \x1b[2J\x1b]0;owned\x07 \u202egnp.exe\u2028 \x9b31m"))
    assert not any(c in reply.message for c in "\x1b\x07\x9b\u202e\u2028")
    assert "\\x1b[2J" in reply.message
