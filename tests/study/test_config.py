"""A wrong study.yaml gets one line that names file, line, field and remedy."""

from pathlib import Path

import pytest

from dsqa.errors import StudyError
from dsqa.study.parse import load_study, parse_study

GOOD = """\
name: homework
models: [gpt-4o-mini]
temperatures: [0.2, 1.0]
runs: 10
"""


def failure(text: str) -> StudyError:
    with pytest.raises(StudyError) as caught:
        parse_study(text, Path("study.yaml"))
    assert "\n" not in str(caught.value)
    return caught.value


def test_defaults_are_those_of_an_openai_study():
    study = parse_study(GOOD)
    assert study.endpoints["default"].kind == "openai"
    assert study.endpoints["default"].api_key_env == "OPENAI_API_KEY"
    assert study.models[0].name == "gpt-4o-mini"
    assert study.temperatures == (0.2, 1.0)


def test_missing_file_says_how_to_make_one(tmp_path):
    with pytest.raises(StudyError, match="dsqa init"):
        load_study(tmp_path / "nothing.yaml")


def test_folder_in_place_of_a_file(tmp_path):
    with pytest.raises(StudyError, match="is a folder"):
        load_study(tmp_path)


def test_file_that_is_not_text(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_bytes(b"\xff\xfe\x00name")
    with pytest.raises(StudyError, match="cannot be read"):
        load_study(path)


def test_broken_yaml_names_the_line():
    error = failure("name: x\nmodels: [a\nruns: 3\n")
    assert error.line == 3


def test_empty_file():
    assert "holds no settings" in str(failure(""))


def test_unknown_setting_lists_the_known_ones():
    error = failure(GOOD + "temprature: 1\n")
    assert error.line == 5
    assert error.field == "temprature"
    assert "temperatures" in str(error)


def test_unknown_nested_setting_names_its_own_line_and_section():
    error = failure(GOOD + "sampling:\n  concurrency: 4\n  speed: 9\n")
    assert error.line == 7
    assert error.field == "sampling.speed"
    assert "concurrency" in (error.hint or "")


def test_runs_below_one():
    error = failure(GOOD.replace("runs: 10", "runs: 0"))
    assert (error.line, error.field) == (4, "runs")


def test_temperature_out_of_range_names_the_item():
    error = failure(GOOD.replace("[0.2, 1.0]", "[0.2, 3]"))
    assert error.field is not None
    assert error.field.startswith("temperatures.1")


def test_no_models():
    assert failure(GOOD.replace("[gpt-4o-mini]", "[]")).field == "models"


def test_model_of_an_unknown_endpoint_lists_the_endpoints():
    error = failure(GOOD.replace("[gpt-4o-mini]", "[{name: a, endpoint: nowhere}]"))
    assert "nowhere" in str(error)
    assert "default" in str(error)


@pytest.mark.parametrize("reserved", ["messages", "model", "temperature", "stream", "n"])
def test_request_may_not_override_what_dsqa_sets(reserved):
    assert reserved in str(failure(GOOD + f"request:\n  {reserved}: 1\n"))


def test_name_must_be_a_safe_folder_name():
    assert failure(GOOD.replace("homework", "../escape")).field == "name"


def test_numeric_question_ids_are_text():
    assert parse_study(GOOD + "questions: [1, 16.1]\n").questions == ("1", "16.1")


def test_null_temperature_means_none_is_sent():
    assert parse_study(GOOD.replace("[0.2, 1.0]", "[null]")).temperatures == (None,)


def test_a_key_in_the_study_is_refused():
    error = failure(GOOD + "endpoints:\n  default:\n    api_key: sk-123\n")
    assert error.line == 7
    assert "sk-123" not in str(error)


def test_a_password_in_an_address_is_refused_and_not_repeated():
    error = failure(GOOD + "endpoints:\n  default:\n    base_url: https://me:secret@host/v1\n")
    assert error.line == 7
    assert "secret" not in str(error)


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/v1", "ftp://host/v1", "host/v1", "http://"])
def test_an_address_that_is_none(url):
    assert failure(GOOD + f"endpoints:\n  default:\n    base_url: {url}\n").line == 7


def test_a_setting_written_twice_names_both_lines():
    error = failure(GOOD + "runs: 20\n")
    assert error.line == 5
    assert "line 4" in str(error)


def test_one_model_and_one_temperature_need_no_list():
    study = parse_study("name: s\nmodels: m\ntemperatures: 0.5\n")
    assert [m.name for m in study.models] == ["m"]
    assert study.temperatures == (0.5,)


@pytest.mark.parametrize("value", ["2024-01-01", ".nan"])
def test_request_that_is_no_json(value):
    assert "JSON" in str(failure(GOOD + f"request:\n  max_tokens: {value}\n"))


@pytest.mark.parametrize("name", ["api_key", "API-Key", "Authorization", "extra_headers"])
def test_request_that_would_record_a_secret(name):
    error = failure(GOOD + f"request:\n  {name}: sk-value\n")
    assert "recorded" in str(error)
    assert "sk-value" not in str(error)


def test_request_that_holds_the_key_under_another_name(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    error = failure(GOOD + "request:\n  user: sk-0123456789\n")
    assert "sk-0123456789" not in str(error)


def test_temperature_that_is_no_number():
    assert (failure(GOOD.replace("[0.2, 1.0]", "[.nan]")).field or "").startswith("temperatures")


def test_name_that_is_a_number():
    assert parse_study(GOOD.replace("homework", "2024")).name == "2024"
