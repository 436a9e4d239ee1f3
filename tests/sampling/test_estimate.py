"""dsqa sample --dry-run: what would be sent and cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from dsqa.cli.cost import budget_text, estimate_text, money_text
from dsqa.errors import StudyError
from dsqa.sampling import Selection, estimate_study, sample_study
from dsqa.study.sections import BudgetConfig
from dsqa.tokens import count_bpe, count_messages
from tests.sampling.studies import prepare, study_config, write_bank
from tests.support.server import FaultServer, completion

NOWHERE = "http://127.0.0.1:9/v1"
OWN = "prices: [{models: m, input: 2, output: 10}, {models: other, input: 20, output: 100, date: 2026-11-30}]"


def estimate(folder, url=NOWHERE, limit=None, only=None, **changes):
    config = study_config(url, **changes)
    return estimate_study(config, folder / "study.yaml", folder / "runs" / "small", limit=limit, only=only)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("DSQA_TEST_KEY")
    write_bank(tmp_path)
    (tmp_path / "prices.yaml").write_text(OWN)
    return tmp_path


def test_messages_count_their_text_and_their_frame():
    text = "How many rows has the file?"
    assert count_messages([{"role": "user", "content": text}]) == 3 + 4 + count_bpe(text)
    assert count_messages([{"role": "user", "content": None}]) == 7


def test_nothing_is_needed_sent_or_written(folder):
    before = sorted(path.name for path in folder.rglob("*"))
    result = estimate(folder, models=["m", "other"])
    assert sorted(path.name for path in folder.rglob("*")) == before
    assert [(m.model, m.runs, m.recorded, m.requests) for m in result.models] == [
        ("m", 24, 0, 24),
        ("other", 24, 0, 24),
    ]
    one, two = result.models
    assert one.tokens_in == two.tokens_in > 24 * 20
    assert one.tokens_out is None
    assert one.tokens_out_most == 24 * 50
    # By hand: per million, 2 in and 10 out; ten times that for the other.
    assert one.low == pytest.approx(one.tokens_in * 2 / 1e6)
    assert one.high == pytest.approx((one.tokens_in * 2 + 24 * 50 * 10) / 1e6)
    assert one.likely is None
    assert two.high == pytest.approx(10 * one.high)
    assert result.counted_here
    assert result.spent.requests == 0


def test_recorded_runs_are_taken_off_and_say_how_long_answers_are(folder, monkeypatch):
    monkeypatch.setenv("DSQA_TEST_KEY", "sk-x")

    def script(seen):
        answer = completion(seen.number, "m", "x")
        answer["usage"] = {"prompt_tokens": 33, "completion_tokens": 20 if seen.number % 2 else 40}
        return answer

    with FaultServer(script) as server:
        sample_study(prepare(folder, server.url, sampling={"concurrency": 1}), limit=18)
        result = estimate(folder, server.url, sampling={"concurrency": 1})
    (model,) = result.models
    assert (model.runs, model.recorded, model.asked, model.requests) == (24, 18, 6, 6)
    assert model.tokens_in == 6 * 33, "as the endpoint counts, not as we do"
    assert model.tokens_out == pytest.approx(6 * 30, rel=0.35)
    assert model.low < model.likely < model.high
    assert result.spent.requests == 18
    assert result.spent.tokens == 18 * 33 + 9 * 20 + 9 * 40
    assert result.spent.money == pytest.approx((18 * 33 * 2 + (9 * 20 + 9 * 40) * 10) / 1e6)
    assert not result.counted_here


def test_limit_only_choices_and_more_runs(folder):
    assert estimate(folder, limit=5).models[0].requests == 5
    assert estimate(folder, only=Selection(question=("q2",))).models[0].requests == 8
    shared = estimate(folder, runs=8, sampling={"choices_per_request": 4}).models[0]
    single = estimate(folder, runs=8).models[0]
    assert (shared.requests, shared.asked) == (12, 48)
    assert shared.tokens_in == single.tokens_in / 4, "a prompt is paid for once for all its choices"
    assert shared.tokens_out_most == single.tokens_out_most
    assert estimate(folder, runs=100).models[0].runs == 600


def test_what_is_not_known_or_not_bounded_is_said_so(folder):
    text = estimate_text(estimate(folder, models=["m", "new"], request={}), folder)
    assert "unknown" in text
    assert "no bound" in text
    assert "No price is known for new: put it into prices.yaml" in text
    assert "set max_tokens" in text
    assert "--limit 20" in text
    total = text.splitlines()[4]
    assert total.startswith("in all")
    assert total.split()[-3:] == ["unknown"] * 3, "a sum with an unknown part is unknown"


def test_prices_are_dated_in_the_table(folder):
    text = estimate_text(estimate(folder, models=["m", "other"]), folder)
    assert "of 2026-11-30; check them" in text
    assert "of no date; check them" in text


def test_an_embedded_model_is_free(folder):
    text = estimate_text(estimate(folder, endpoints={"default": {"kind": "embedded"}}), folder)
    assert text.splitlines()[2].split()[-3:] == ["free"] * 3
    assert "Prices:" not in text


def test_a_wrong_study_is_an_error_here_too(folder):
    with pytest.raises(StudyError, match="no question 'q9'"):
        estimate(folder, only=Selection(question=("q9",)))


@pytest.mark.parametrize(
    ("money", "unpriced", "text"),
    [
        ({}, 0, "nothing"),
        ({"USD": 0.0}, 0, "0"),
        ({"USD": 1.5}, 0, "1.50 USD"),
        ({"USD": 1.5, "EUR": 2}, 0, "1.50 USD, 2.00 EUR"),
        ({}, 3, "cost of 3 requests unknown"),
        ({"USD": 1.5}, 1, "1.50 USD, cost of 1 request unknown"),
    ],
)
def test_unknown_money_is_never_nought(money, unpriced, text):
    assert money_text(money, unpriced) == text


def test_on_the_command_line(folder):
    study = study_config("https://llm.example.org/v1", models=["m", "other"])
    (folder / "study.yaml").write_text(json.dumps(study.model_dump(mode="json", exclude_unset=True)))
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_KEY")}

    def dsqa(*words):
        command = [sys.executable, "-m", "dsqa", "sample", "study.yaml", "--dry-run", *words]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    shown = dsqa()
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[2].split()[:4] == ["m", "24", "0", "24"]
    assert not (folder / "runs").exists()
    data = json.loads(dsqa("--json", "--limit", "6").stdout)
    assert sum(model["requests"] for model in data["models"]) == 6
    assert data["models"][0]["currency"] == "USD"
    wrong = dsqa("--only", "model=gpt")
    assert wrong.returncode == 2
    assert "no model 'gpt' (it has: m, other)" in wrong.stderr
    capped = dsqa("--budget", "tokens=5000,requests=3")
    assert "The budget ends it before the study has taken more than 5,000 tokens, 3 requests" in capped.stdout
    assert "no budget" in dsqa("--budget", "5 EUR").stderr


def test_a_cap_on_money_without_a_price_would_send_nothing_and_says_so(folder):
    known, unknown = estimate(folder, models=["m"]), estimate(folder, models=["unheard-of"])
    assert budget_text(BudgetConfig(), known) is None
    assert "more than 5.00 USD" in str(budget_text(BudgetConfig(money=5), known))
    assert "no price is known for unheard-of" in str(budget_text(BudgetConfig(money=5), unknown))
