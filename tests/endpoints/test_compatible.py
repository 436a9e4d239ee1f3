"""Other servers than OpenAI's: addresses, keys, names of parameters, usage."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
from aiohttp import web

from dsqa.endpoints import PassingFailure, PermanentFailure, Scope, open_endpoint, read_replies
from dsqa.endpoints.headers import rate_limit_headers
from dsqa.errors import StudyError
from dsqa.records import Record, read_records, records_table, usage_counts
from dsqa.sampling import sample_study
from dsqa.study.parse import parse_study
from dsqa.study.sections import EndpointConfig
from tests.endpoints.conftest import KEY, REQUEST, ask_all
from tests.sampling.studies import prepare
from tests.support.server import FaultServer, completion, error

ONLY_DEFAULT = (
    "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported."
)
USE_THE_OTHER = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)


# Addresses and keys


def test_azure_deployment_keeps_its_query_and_its_header():
    (replies,), seen = ask_all(None, REQUEST, path="/openai/deployments/gpt?api-version=2024-10-21", auth="api-key")
    assert seen[0].path == "/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
    assert seen[0].headers["api-key"] == KEY
    assert "Authorization" not in seen[0].headers
    assert replies[0].text == "answer 1"


def test_azure_version_as_a_setting_is_recorded_and_the_key_is_not():
    async def main(url):
        config = EndpointConfig(
            base_url=url,
            api_version="2024-10-21",
            auth="api-key",
            api_key_env="DSQA_TEST_KEY",
            headers={"X-Title": "t"},
        )
        async with open_endpoint("e", config, timeout=5) as endpoint:
            await endpoint.ask(REQUEST)
            return endpoint.base_url

    with FaultServer() as server:
        url = server.url.replace("/v1", "/openai/deployments/gpt/")
        recorded = asyncio.run(main(url))
        assert server.seen[0].path.endswith("/gpt/chat/completions?api-version=2024-10-21")
        assert server.seen[0].headers["X-Title"] == "t"
    assert recorded == url.rstrip("/") + "?api-version=2024-10-21"


def test_no_key_is_sent_where_none_is_wanted():
    _, seen = ask_all(None, REQUEST, auth="none")
    assert not {"Authorization", "api-key"} & set(seen[0].headers)


def test_organisation_and_project_come_from_where_the_official_client_takes_them(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    _, seen = ask_all(None, REQUEST)
    assert (seen[0].headers["OpenAI-Organization"], seen[0].headers["OpenAI-Project"]) == ("org-1", "proj-1")
    assert seen[0].headers["Authorization"] == f"Bearer {KEY}"


def test_a_redirect_is_not_followed_with_the_key():
    async def main():
        reached = []

        async def away(request):
            raise web.HTTPTemporaryRedirect(f"http://127.0.0.1:{port}/elsewhere?token=x")

        async def elsewhere(request):
            reached.append(request)
            return web.json_response({})

        app = web.Application()
        app.router.add_post("/v1/chat/completions", away)
        app.router.add_route("*", "/elsewhere", elsewhere)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        config = EndpointConfig(base_url=f"http://127.0.0.1:{port}/v1", api_key_env="DSQA_TEST_KEY")
        try:
            async with open_endpoint("e", config, timeout=5) as endpoint:
                await endpoint.ask(REQUEST)
        except PermanentFailure as failure:
            return failure, reached
        finally:
            await runner.cleanup()

    failure, reached = asyncio.run(main())
    assert failure.kind == "moved"
    assert "/elsewhere" in failure.message
    assert "token" not in failure.message
    assert not reached


def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch):
    from dsqa.endpoints.transport import _proxy_for

    monkeypatch.setenv("http_proxy", "http://user:pa%20ss@proxy.example:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    url, headers = _proxy_for("http://api.example/v1")
    assert str(url) == "http://proxy.example:3128"
    assert headers == {"Proxy-Authorization": "Basic dXNlcjpwYSBzcw=="}
    assert _proxy_for("http://127.0.0.1:8000/v1") == (None, None)
    (replies,), _ = ask_all(None, REQUEST)
    assert replies[0].status == "answered"


@pytest.mark.parametrize(
    ("endpoint", "says"),
    [
        ({"base_url": "https://x.example/v1?api_key=abc"}, "may hold no api_key"),
        ({"base_url": "https://x.example/v1?sig=abc"}, "may hold no sig"),
        ({"headers": {"Authorization": "Bearer abc"}}, "would be recorded"),
        ({"headers": {"x-api-key": "abc"}}, "would be recorded"),
        ({"headers": {"X-A": "a\nb"}}, "no header"),
        ({"kind": "replay"}, "needs  records"),
        ({"records": "runs/a"}, "goes with  kind: replay"),
        ({"kind": "embedded", "base_url": "http://x.example"}, "has no meaning"),
    ],
)
def test_settings_that_cannot_be(endpoint, says):
    with pytest.raises(StudyError, match=says) as caught:
        parse_study(json.dumps({"name": "s", "models": ["m"], "endpoints": {"default": endpoint}}))
    assert "abc" not in str(caught.value)


def test_a_version_that_yaml_takes_for_a_date_is_a_version():
    study = parse_study("name: s\nmodels: [m]\nendpoints:\n  default: {api_version: 2024-10-21}\n")
    assert study.endpoints["default"].api_version == "2024-10-21"


# Parameters


def refuse(name, message, code="unsupported_parameter"):
    return lambda seen: error(400, message, code) if name in seen.body else None


def test_the_limit_of_tokens_goes_under_the_name_that_the_model_takes(caplog):
    (first, second), seen = ask_all(refuse("max_tokens", USE_THE_OTHER), REQUEST, REQUEST)
    assert [sorted(request.body) for request in seen] == [
        ["max_tokens", "messages", "model", "temperature"],
        ["max_completion_tokens", "messages", "model", "temperature"],
        ["max_completion_tokens", "messages", "model", "temperature"],
    ], "the first is sent again at once, the second is right from the start"
    note = {
        "parameter": "max_tokens",
        "asked": 50,
        "sent": 50,
        "sent_as": "max_completion_tokens",
        "why": USE_THE_OTHER,
    }
    for (reply,) in (first, second):
        assert reply.request == seen[1].body
        assert reply.adapted == (note,)
    assert caplog.text.count("takes max_completion_tokens in place of max_tokens") == 1


def test_an_older_server_is_given_the_older_name():
    request = {**REQUEST, "max_completion_tokens": 9}
    del request["max_tokens"]
    script = refuse("max_completion_tokens", "Extra inputs are not permitted: max_completion_tokens", None)
    (replies,), seen = ask_all(script, request)
    assert seen[1].body["max_tokens"] == 9
    assert replies[0].adapted[0]["sent_as"] == "max_tokens"


def test_neither_name_is_an_error_and_no_endless_loop():
    def script(seen):
        name = "max_tokens" if "max_tokens" in seen.body else "max_completion_tokens"
        return error(400, f"Unsupported parameter: '{name}'", "unsupported_parameter")

    (failure,), seen = ask_all(script, REQUEST)
    assert isinstance(failure, PermanentFailure)
    assert failure.scope is Scope.PARAMETERS
    assert len(seen) == 2


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_refused_temperature_is_left_out_said_once_and_recorded(api, caplog):
    script = refuse("temperature", ONLY_DEFAULT, "unsupported_value")
    (first, second), seen = ask_all(script, REQUEST, REQUEST, api=api)
    assert ["temperature" in request.body for request in seen] == [True, False, False]
    for (reply,) in (first, second):
        assert "temperature" not in reply.request
        assert reply.adapted == ({"parameter": "temperature", "asked": 0.7, "sent": None, "why": ONLY_DEFAULT},)
    assert caplog.text.count("refuses the temperature") == 1
    assert "one and the same condition" not in caplog.text, "one temperature alone is no waste"


def test_temperatures_that_come_to_the_same_are_said_to(caplog):
    script = refuse("temperature", ONLY_DEFAULT, "unsupported_value")
    hotter = [{**REQUEST, "temperature": t} for t in (0.2, 0.7, 1.2, 0.2)]
    ask_all(script, *hotter)
    assert caplog.text.count("one and the same condition") == 1


def test_both_may_be_adapted_and_another_model_is_not_touched():
    def script(seen):
        if seen.body["model"] == "m":
            return refuse("max_tokens", USE_THE_OTHER)(seen) or refuse("temperature", ONLY_DEFAULT)(seen)
        return None

    (first, second), seen = ask_all(script, REQUEST, {**REQUEST, "model": "other"})
    assert {note["parameter"] for note in first[0].adapted} == {"max_tokens", "temperature"}
    assert second[0].request is None
    assert seen[-1].body == {**REQUEST, "model": "other"}


@pytest.mark.parametrize(
    "message",
    [
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2",
        "temperature: Input should be less than or equal to 1",
        "Unsupported parameter: 'top_k'",
        "",
    ],
)
def test_other_refusals_stay_refusals(message):
    (failure,), seen = ask_all(lambda _: error(400, message), REQUEST)
    assert isinstance(failure, PermanentFailure)
    assert len(seen) == 1
    assert (failure.request, failure.adapted) == (None, ())


def test_a_failure_after_adapting_says_what_was_sent():
    def script(seen):
        return refuse("max_tokens", USE_THE_OTHER)(seen) or error(500, "oh")

    (failure,), _ = ask_all(script, REQUEST)
    assert isinstance(failure, PassingFailure)
    assert failure.request["max_completion_tokens"] == 50
    assert failure.adapted[0]["parameter"] == "max_tokens"


def test_records_do_not_claim_a_temperature_that_was_not_sent():
    condition = {"endpoint": "e", "model": "m", "temperature": 0.7}
    refused = Record(
        "q",
        "c",
        0,
        "h",
        condition,
        {},
        "answered",
        adapted=[{"parameter": "temperature", "asked": 0.7, "sent": None}],
    )
    asked = Record("q", "c", 1, "h", condition, {}, "answered", adapted=[{"parameter": "max_tokens"}])
    assert (refused.temperature, asked.temperature) == (None, 0.7)
    assert records_table([refused, asked])["temperature"].tolist()[1:] == [0.7]
    assert records_table([refused])["temperature"].isna().all()
    assert Record.from_dict(refused.to_dict()) == refused
    assert "batch" not in refused.to_dict()


def test_a_model_may_have_temperatures_of_its_own():
    from dsqa.study.design import conditions_of

    text = "name: s\nmodels:\n  - a\n  - {name: o, temperatures: [null]}\n  - {name: p, temperatures: null}\n"
    study = parse_study(text + "temperatures: [0.2, 1.0]\n")
    again = type(study).model_validate(study.model_dump(mode="json"))
    for config in (study, again):
        assert [(c.model, c.temperature) for c in conditions_of(config)] == [
            ("a", 0.2),
            ("a", 1.0),
            ("o", None),
            ("p", None),
        ]


@pytest.mark.parametrize(("seed", "warns"), [(7, True), (0, True), ("per-run", False), (None, False)])
def test_a_fixed_seed_at_many_runs_is_warned_of(tmp_path, caplog, seed, warns):
    prepare(tmp_path, "http://127.0.0.1:9/v1", request={} if seed is None else {"seed": seed})
    assert ("copies of one answer" in caplog.text) is warns


def test_a_seed_per_run_is_a_number_of_its_own_and_the_same_again(tmp_path):
    with FaultServer() as server:
        seeds = []
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            study = prepare(tmp_path / name, server.url, request={"seed": "per-run"})
            sample_study(study)
            seeds.append({r.key: r.request["seed"] for r in read_records(study.records_path)})
        assert {seen.body["seed"] for seen in server.seen} == set(seeds[0].values())
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0].values())) == len(seeds[0]) == 24
    assert all(isinstance(seed, int) and 0 <= seed < 2**31 for seed in seeds[0].values())


@pytest.mark.parametrize("wrong", ["hot", [0.2, "hot"], [], [True], 2.1, [-0.1], [float("nan")], {"a": 1}])
def test_temperatures_of_a_model_that_are_none(wrong):
    study = {"name": "s", "models": [{"name": "m", "temperatures": wrong}]}
    with pytest.raises(StudyError, match=r"from 0 to 2|names none|not be yes, no") as caught:
        parse_study(json.dumps(study).replace("NaN", ".nan"))
    assert "tuple" not in str(caught.value)


# Usage, choices, limits, credit


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (None, (None, None, None, None)),
        ({}, (None, None, None, None)),
        ({"prompt_tokens": 7, "completion_tokens": 0}, (7, None, 0, None)),
        ({"prompt_tokens": 7, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3},
          "completion_tokens_details": {"reasoning_tokens": 2}}, (7, 3, 5, 2)),
        ({"input_tokens": 7, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 0},
          "output_tokens_details": {"reasoning_tokens": 4}}, (7, 0, 5, 4)),
        ({"prompt_tokens": 7, "completion_tokens": 5, "prompt_cache_hit_tokens": 6}, (7, 6, 5, None)),
        ({"prompt_tokens": "7", "completion_tokens": True, "prompt_tokens_details": None}, (None, None, None, None)),
    ],
)  # fmt: skip
def test_usage_under_any_name(usage, counts):
    assert usage_counts(usage) == counts


def test_choices_of_one_request_and_whose_usage_is_whose():
    body = completion(1, "m", "first")
    other = {"index": 1, "finish_reason": "length", "message": {"content": "second"}}
    body["choices"] = [other, body["choices"][0]]
    (replies,), _ = ask_all(lambda seen: body, {**REQUEST, "n": 2})
    assert [(r.text, r.status, r.choice, r.choices) for r in replies] == [
        ("first", "answered", 0, 2),
        ("second", "truncated", 1, 2),
    ]
    assert usage_counts(replies[0].usage).completion == 5
    assert replies[1].usage is None, "what was paid is counted once"
    assert [r.text for r in read_replies(completion(1, "m", "x"), 0.1)] == ["x"]


def test_rate_limit_headers_come_with_answers_and_failures():
    headers = {"X-RateLimit-Remaining-Requests": "3", "Retry-After": "2", "X-Request-Id": "r"}
    (failure,), _ = ask_all(lambda _: error(429, "slow", headers=headers), REQUEST)
    assert failure.headers == {"x-ratelimit-remaining-requests": "3", "retry-after": "2"}
    every = {"RateLimit": '"a";r=1', "anthropic-ratelimit-tokens-remaining": "9", "retry-after-ms": "5", "Date": "x"}
    assert set(rate_limit_headers(every)) == {"ratelimit", "anthropic-ratelimit-tokens-remaining", "retry-after-ms"}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Your credit balance is too low to access the API."),
        (403, "Your newly created team has no credits yet."),
        (402, "Insufficient Balance"),
    ],
)
def test_no_credit_in_other_words(status, message):
    (failure,), _ = ask_all(lambda _: error(status, message), REQUEST)
    assert (failure.kind, failure.scope) == ("no credit", Scope.ENDPOINT)


def test_a_quota_per_minute_is_not_for_good():
    (failure,), _ = ask_all(lambda _: error(429, "You exceeded your current quota, please check your plan"), REQUEST)
    assert isinstance(failure, PassingFailure)


def test_logs_hold_no_key(caplog):
    caplog.set_level(logging.DEBUG)
    ask_all(refuse("max_tokens", f"{USE_THE_OTHER} Your key was {KEY}"), REQUEST)
    assert "takes max_completion_tokens" in caplog.text
    assert KEY not in caplog.text
