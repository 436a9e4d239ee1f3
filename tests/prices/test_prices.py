from __future__ import annotations

import pytest
import yaml

from dsqa.errors import StudyError
from dsqa.prices import (
    Money,
    cost_of,
    find_prices,
    format_money,
    load_prices,
    recorded_prices,
    save_prices,
    total_cost,
)
from dsqa.records import Record

OPENAI = "https://api.openai.com/v1"
OWN = """
currency: EUR
prices:
  - {models: ["gpt-4o*", exact], input: 2, cached_input: 1, output: 8, date: 2026-01-31, source: contract}
  - {models: elsewhere, endpoint: llm.example.org, input: 5, output: 5, currency: CHF}
"""


def record(model="exact", base_url="https://anywhere/v1", usage=None, **rest) -> Record:
    condition = {"model": model, "base_url": base_url}
    return Record("q", "c", 0, "0" * 16, condition, {}, rest.pop("status", "answered"), usage=usage, **rest)


def usage(read, written, cached=None, reasoning=None):
    row = {"prompt_tokens": read, "completion_tokens": written}
    if cached is not None:
        row["prompt_tokens_details"] = {"cached_tokens": cached}
    if reasoning is not None:
        row["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return row


@pytest.fixture
def own(tmp_path):
    (tmp_path / "prices.yaml").write_text(OWN)
    return load_prices(tmp_path / "prices.yaml")


def test_cost_is_tokens_times_price_cached_ones_at_theirs_and_reasoning_as_output(own):
    # By hand: (1000 - 400) × 2 + 400 × 1 + 500 × 8 = 5600 millionths.
    cost = cost_of(record(usage=usage(1000, 500, cached=400, reasoning=450)), own)
    assert cost == Money(pytest.approx(0.0056), "EUR")
    assert cost_of(record(usage=usage(1000, 500)), own).amount == pytest.approx(0.006)


def test_usage_of_the_responses_api_is_read_too(own):
    row = {"input_tokens": 1000, "output_tokens": 500, "input_tokens_details": {"cached_tokens": 400}}
    assert cost_of(record(usage=row), own).amount == pytest.approx(0.0056)


def test_more_cached_than_read_is_no_negative_price(own):
    assert cost_of(record(usage=usage(10, 0, cached=50)), own).amount == pytest.approx(10 * 1 / 1e6)


@pytest.mark.parametrize(
    "unknown",
    [
        record(model="nobody-knows", usage=usage(10, 10)),
        record(usage=None),
        record(usage={"total_tokens": 20}),
        record(status="failed", error={"class": "timeout", "message": "", "status": None}),
        record(status="failed", error={"class": "dropped", "message": "", "status": None}),
    ],
)
def test_what_is_unknown_is_none_and_never_nought(own, unknown):
    assert cost_of(unknown, own) is None


def test_a_refused_request_costs_nothing(own):
    refused = record(status="failed", error={"class": "too long", "message": "", "status": 400})
    assert cost_of(refused, own) == Money(0.0, "EUR")


@pytest.mark.parametrize("address", ["embedded", "replay:small/records.jsonl"])
def test_a_model_of_one_s_own_and_a_replay_are_free_by_their_nature(address):
    assert cost_of(record(base_url=address), load_prices()) == Money(0.0, "USD")


def test_a_server_on_this_machine_has_an_unknown_price():
    assert (
        cost_of(record(model="gpt-4o", base_url="http://127.0.0.1:8000/v1", usage=usage(1, 1)), load_prices()) is None
    )


def test_runs_that_shared_a_request_cost_what_the_request_cost(own):
    shared = [record(usage=usage(1000, 2000) if k == 0 else None, choice={"index": k, "of": 4}) for k in range(4)]
    money, unknown = total_cost(shared, own)
    assert money == {"EUR": pytest.approx((1000 * 2 + 2000 * 8) / 1e6)}
    assert unknown == 0
    assert total_cost([*shared, record(model="nobody-knows")], own)[1] == 1


def test_names_may_have_stars_and_endpoints_are_hosts(own):
    assert own.find("gpt-4o-2031-01-01", "https://x/v1").output == 8
    assert own.find("exactly", "https://x/v1") is None
    assert own.find("elsewhere", "https://llm.example.org/v1").currency == "CHF"
    assert own.find("elsewhere", "https://llm.example.com/v1") is None


def test_own_prices_come_first_then_the_list(own):
    assert own.find("gpt-4o", OPENAI).input == 2
    assert own.find("gpt-4.1-nano", OPENAI).input == 0.10
    assert own.currency == "EUR"


def test_list_prices_are_dated_sourced_and_bound_to_their_endpoint():
    prices = load_prices()
    price = prices.find("gpt-4o-mini", OPENAI)
    assert (price.input, price.cached_input, price.output, price.currency) == (0.15, 0.075, 0.60, "USD")
    assert prices.find("gpt-4o-mini", "https://proxy.example.org/v1") is None
    for _, file in prices.files:
        for entry in file.prices:
            assert entry.date
            assert entry.source
            assert entry.endpoint
            assert entry.cached_input is None or entry.cached_input < entry.input < entry.output


def test_where_prices_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "study"
    folder.mkdir()
    assert find_prices(None, folder).find("exact", OPENAI) is None
    (tmp_path / "prices.yaml").write_text(OWN)
    assert find_prices(None, folder).find("exact", OPENAI).input == 2
    (folder / "prices.yaml").write_text("prices: [{models: exact, input: 3, output: 4}]")
    assert find_prices(None, folder).find("exact", OPENAI).input == 3
    (folder / "mine.yaml").write_text("prices: [{models: exact, input: 0, output: 0}]")
    assert find_prices("mine.yaml", folder).find("exact", OPENAI).is_free


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prices: [{models: m, input: -1, output: 2}]", "prices.0.input"),
        ("prices: [{models: m, input: 1}]", "prices.0.output"),
        ("prices: [{models: m, input: 1, output: 2, cache: 3}]", "is not a setting of a price"),
        ("prices: [{models: m, input: 1, output: .inf}]", "prices.0.output"),
        ("prices: [{models: [], input: 1, output: 1}]", "prices.0.models"),
        ("currency: dollars", "three capital letters"),
        ("prices: [{models: m, input: 1, ouput: 2}]", "did you mean output?"),
        ("prices: [{models: m, input: 1, output: 2, date: yesterday}]", "must be a date"),
        ("prices: 3", "must be a list"),
        ("prices: [", "not valid YAML"),
        ("- a", "models, input and output"),
    ],
)
def test_a_wrong_file_is_named_with_the_place(tmp_path, text, says):
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(StudyError) as caught:
        load_prices(path)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_an_error_only_where_it_was_named(tmp_path):
    with pytest.raises(StudyError, match="no such file of prices"):
        find_prices("nowhere.yaml", tmp_path)


def test_a_study_keeps_the_prices_it_was_sampled_with(own, tmp_path):
    root = tmp_path / "runs"
    root.mkdir()
    save_prices(own, ["gpt-4o", "elsewhere", "unheard-of"], root)
    kept = recorded_prices(root)
    for model, address in [("gpt-4o", OPENAI), ("elsewhere", "https://llm.example.org/v1"), ("unheard-of", OPENAI)]:
        found, was = kept.find(model, address), own.find(model, address)
        assert (found is None) == (was is None)
        if found is not None:
            assert (found.input, found.cached_input, found.output, found.currency, found.date) == (
                was.input,
                was.cached_input,
                was.output,
                was.currency,
                was.date,
            )
    assert kept.find("gpt-4.1", OPENAI) is None, "only what it needs"
    assert kept.currency == "EUR"
    assert set(yaml.safe_load((root / "prices.yaml").read_text())) == {"currency", "prices"}


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0.00 USD"),
        (12.345, "12.35 USD"),
        (0.5, "0.50 USD"),
        (0.0123, "0.012 USD"),
        (0.000456, "0.00046 USD"),
        (1e-9, "under 0.000001 USD"),
    ],
)
def test_money_is_shown_so_that_small_amounts_are_not_nought(amount, text):
    assert format_money(amount, "USD") == text
