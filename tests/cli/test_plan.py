"""`dsqa plan` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dsqa.cli.plan import plan
from dsqa.errors import StatisticsError, StudyError
from dsqa.records import read_records
from tests.report.study import make_study


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study(tmp_path_factory.mktemp("plan") / "pilot", questions=8, runs=6).root


def dsqa_plan(*words: object) -> Result:
    fast = ("--simulations", "100", "--questions", "8,30", "--runs", "4,40")
    return CliRunner().invoke(plan, [*map(str, words), *fast])


def test_says_what_each_plan_reaches_and_costs(pilot: Path) -> None:
    result = dsqa_plan(pilot, "--precision", "0.2")
    assert result.exit_code == 0, result.output
    assert "Fewest requests that reach it in 80% of studies: " in result.output
    assert "Two conditions, paired by question" in result.output
    assert "Verdicts on single questions" in result.output


def test_as_data_requests_count_every_condition(pilot: Path) -> None:
    data = json.loads(dsqa_plan(pilot, "--json").output)
    assert data["conditions"] == 2
    assert [p["requests"] for p in data["plans"]] == [8 * 4 * 2, 8 * 40 * 2, 30 * 4 * 2, 30 * 40 * 2]
    widths = {(p["questions"], p["runs"]): p["half_width"] for p in data["plans"]}
    assert widths[30, 40] < widths[30, 4] < widths[8, 4]


def test_an_unknown_price_is_unknown_and_no_tokens_are_no_nought(pilot: Path) -> None:
    plans = json.loads(dsqa_plan(pilot, "--json").output)["plans"]
    assert {p["money"] for p in plans} == {None}
    result = dsqa_plan(pilot, "--budget", "5")
    assert isinstance(result.exception, StatisticsError)
    assert "prices.yaml" in str(result.exception)


def test_a_budget_buys_the_most_precise_plan_that_it_pays(pilot: Path) -> None:
    (pilot / "prices.yaml").write_text("prices: [{models: model-a, input: 1000000, output: 0}]\n")
    try:
        tokens = [(r.usage or {}).get("prompt_tokens") for r in read_records(pilot / "records.jsonl")]
        if None in tokens:
            _give_usage(pilot)
            tokens = [(r.usage or {})["prompt_tokens"] for r in read_records(pilot / "records.jsonl")]
        each = sum(tokens) / len(tokens)  # one unit of money per token
        data = json.loads(dsqa_plan(pilot, "--budget", each * 30 * 4 * 2 + 1, "--json").output)
    finally:
        (pilot / "prices.yaml").unlink()
    best = data["best_for_budget"]
    assert (best["questions"], best["runs"]) == (30, 4)
    assert best["money"] == pytest.approx(each * 30 * 4 * 2)


def _give_usage(pilot: Path) -> None:
    rows = [json.loads(line) for line in (pilot / "records.jsonl").read_text().splitlines()]
    for row in rows:
        row["usage"] = {"prompt_tokens": 100, "completion_tokens": 20}
        row["error"] = None
    (pilot / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(("words", "said"), [(("--runs", "1,x"), "whole numbers"), (("--runs", "1"), "from 2 up")])
def test_lists_of_numbers_are_checked(pilot: Path, words: tuple[str, str], said: str) -> None:
    result = CliRunner().invoke(plan, [str(pilot), *words])
    assert result.exit_code == 2
    assert said in result.output


def test_a_study_that_is_not_marked_is_refused(tmp_path: Path) -> None:
    study = make_study(tmp_path / "s", questions=2, runs=2)
    study.outcomes_path.unlink()
    assert isinstance(dsqa_plan(study.root).exception, StudyError)
