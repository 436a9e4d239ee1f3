"""Mistakes in a study.yaml are told in words that need no knowledge of Python, and before anything costs money."""

from pathlib import Path

import pytest

from dsqa.errors import StudyError
from dsqa.study.parse import parse_study

BASE = "name: homework\nmodels: [gpt-4o-mini]\n"


def message(text: str) -> str:
    with pytest.raises(StudyError) as caught:
        parse_study(BASE + text, Path("study.yaml"))
    said = str(caught.value)
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("runs: 0\n", "must be 1 or more"),
        ("runs: 2.5\n", "must be a whole number"),
        ("runs: ten\n", "must be a whole number"),
        ("runs: yes\n", "must not be yes, no, true or false"),
        ("temperatures: [true]\n", "must not be yes, no, true or false"),
        ("temperatures: [3]\n", "must be 2 or less"),
        ("temperatures: []\n", "must name at least one"),
        ("temperatures:\n", "must be a list"),
        ("budget: 5\n", "must have settings under it"),
        ("budget: {money: 5 EUR}\n", "must be a number"),
        ("stop: {accuracy: 10}\n", "must be less than 0.5"),
        ("execution: {packages: pandas}\n", "must be a list"),
        ("endpoints: {default: {kind: ollama}}\n", "must be 'openai', 'embedded' or 'replay'"),
    ],
)
def test_no_word_of_pydantic_reaches_the_user(text, words):
    said = message(text)
    assert words in said
    assert not [word for word in ("Input", "valid", "Config", "tuple", "item") if word in said]


def test_misspelt_setting_names_the_one_that_was_meant():
    assert "did you mean concurrency?" in message("sampling: {concurency: 3}\n")
    assert "did you mean api_key_env?" in message("endpoints: {default: {api_key: sk-123}}\n")


def test_misspelt_name_comes_before_the_setting_that_is_missing_for_it():
    with pytest.raises(StudyError, match=r"field 'models\.0\.nam'.*did you mean name"):
        parse_study("name: x\nmodels:\n  - {nam: gpt-4o}\n", Path("study.yaml"))


def test_misspelt_cap_on_artefacts_lists_the_caps():
    said = message("execution: {artefacts: {figure: 2}}\n")
    assert "did you mean figures?" in said
    assert "memory_mb" not in said


@pytest.mark.parametrize(
    "key", ["sk-proj-abcdefghijklmnop", "0123456789abcdef0123456789abcdef", "AbCdEfGhIjKlMnOpQrStUvWx", "my key"]
)
def test_key_in_place_of_its_variable_is_refused_and_not_repeated(key):
    said = message(f"endpoints: {{default: {{api_key_env: '{key}'}}}}\n")
    assert "never the key itself" in said
    assert key not in said


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "MYKEY", "_k", "AZURE_OPENAI_API_KEY_OF_THE_COURSE"])
def test_names_of_variables_are_taken(name):
    study = parse_study(BASE + f"endpoints: {{default: {{api_key_env: {name}}}}}\n")
    assert study.endpoints["default"].api_key_env == name


@pytest.mark.parametrize("bound", ["-1", "0", "many", "1.5", "true"])
def test_bound_on_answers_that_is_none_would_make_a_budget_worthless(bound):
    assert "'max_tokens' must be a whole number, 1 or more" in message(f"request: {{max_tokens: {bound}}}\n")


def test_misspelt_seed_per_run_would_be_sent_as_it_stands():
    assert "'seed' must be a whole number, or per-run" in message("request: {seed: per_run}\n")
    assert parse_study(BASE + "request: {seed: per-run}\n").request == {"seed": "per-run"}


@pytest.mark.parametrize("name", ["Content-Length", "host", "Content-Type"])
def test_headers_that_break_a_request_are_refused(name):
    assert "is set by dsqa itself" in message(f"endpoints: {{default: {{headers: {{{name}: '3'}}}}}}\n")


def test_first_look_after_the_last_run_could_save_nothing():
    assert "no cell could stop early" in message("runs: 20\nstop: {accuracy: 0.1, min_runs: 50}\n")
    assert parse_study(BASE + "runs: 5\nstop: {accuracy: 0.1}\n").stop is not None
