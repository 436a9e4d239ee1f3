"""What the sections say, for studies of every size, without rendering."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from dsqa import report
from dsqa.outcomes.columns import COLUMNS
from dsqa.report.page import answer_text, shorten
from dsqa.report.questions import answer_shares, typical_run
from dsqa.report.studyline import study_line
from dsqa.report.wording import count, interval, listing, number, percent
from dsqa.study import StudyFolder
from tests.report.study import make_study

SECTIONS = (
    report.lead, report.verdict_table, report.hurry, report.question_table, report.question_cards,
    report.ledger_table, report.execution_table, report.isolation_text, report.interval_table,
    report.facts_table, report.conditions_table, report.hashes_table, report.settings_text, report.template_text,
)  # fmt: skip


def test_one_question_one_condition_one_run(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "s", questions=1, temperatures=(0.2,), runs=1)
    page = report.open_page(folder.root, resamples=99)
    lead = report.lead(page)
    assert "was asked 1 data-science question, once each: 1 run in all, **1 right**." in lead
    assert "One run says nothing about stability" in lead
    assert "as far as 1 run can tell: 95 % interval [21, 100] %." in report.hurry(page).replace("\xa0", " ")
    text = "\n".join(section(page) for section in SECTIONS)
    assert not re.search(r"\bnan\b|NaN|<NA>|\b1 (runs|questions|cells|conditions|verdicts)\b", text)
    assert "not known" in report.question_table(page)
    # A cell without a verdict has none to settle.
    assert "?" not in report.verdict_table(page)
    assert "settled" not in report.hurry(page)


def test_beyond_sixty_questions_those_that_vary_most_have_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_study(tmp_path / "s", questions=70, temperatures=(0.2,), runs=3)
    page = report.open_page(folder.root, resamples=99)
    cards = report.question_cards(page)
    assert cards.count("::: {.card}") == 60
    names = [f"q{number:02d}" for number in range(1, 71)]
    # Each has a place that the rest of the page can lead to.
    assert [len(re.findall(rf"{{#q-{name}}}", cards)) for name in names] == [1] * 70
    spread = page.outcomes.groupby("question_id")["score"].std(ddof=0)
    listed = cards.partition("Questions without a card")[2]
    without = [name for name in names if f"{{#q-{name}}}" in listed]
    assert len(without) == 10
    assert spread[without].max() <= spread.drop(without).min()
    monkeypatch.setattr("dsqa.report.pictures.MOST_PAGES", 1)
    monkeypatch.chdir(tmp_path)
    assert report.answer_figures(page).count("::: {#fig-") == 1


def test_forty_one_questions_eight_conditions(tmp_path: Path) -> None:
    folder = make_study(
        tmp_path / "s", questions=41, models=("model-a", "model-b"), temperatures=(0.2, 0.7, 1.0, 1.2), runs=2
    )
    page = report.open_page(folder.root, resamples=99)
    texts = {section.__name__: section(page) for section in SECTIONS}
    rows = [line for line in texts["question_table"].splitlines() if line.startswith("| **[q")]
    assert len(rows) == 41 * 8
    assert texts["question_cards"].count("::: {.card}") == 41
    assert (
        "**model\\-a** and **model\\-b** were asked 41 data-science questions, twice each under each of 8"
        in texts["lead"]
    )
    assert re.search(r"\*\*\d+ of 41 are unstable under some conditions\*\*\.", texts["lead"])
    assert re.search(r" and \d+ more \(all in @tbl-verdicts\)", texts["hurry"])
    assert re.search(r"\(from \d+\xa0% with .* to \d+\xa0% with ", texts["hurry"])
    assert len([line for line in texts["verdict_table"].splitlines() if line.startswith("| **")]) == 8


def test_lead_counts_questions_by_hand(tmp_path: Path) -> None:
    page = report.open_page(make_study(tmp_path / "s", questions=2, runs=5).root, resamples=99)
    lead = report.lead(page)
    assert "20 runs in all, **10 right**." in lead
    assert "**1 of 2 is stable and right under both conditions**: [q01](#q-q01)." in lead
    assert "**1 of 2 is stable and wrong under both conditions**: [q02](#q-q02)." in lead
    assert "**None is unstable** under any condition." in lead
    assert lead.endswith("4 of 4 verdicts are not settled yet (? in @tbl-verdicts).")
    hurry = report.hurry(page).replace("\xa0", " ")
    assert "hardly helps** with [q02](#q-q02): stable and wrong, 0 of 10 runs right." in hurry
    assert "gets a right result in **50 %** of cases" in hurry
    assert "question by question it goes from 0 % to 100 %." in hurry
    # (1 − 0.05^(1/129)) of zeros beside full scores has σ̄ just below 0.3; with 128 runs it does not.
    assert "takes 129 runs" in hurry


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (["2025-03-01_10-58-34", "2025-03-01T11:00:00Z"], "recorded 1 March 2025"),
        (["12.03.2025 10:00", "2025-03-14 23:30:00-02:00"], "recorded 12–15 March 2025"),
        (
            ["some time in spring", None, "1741344514"],
            "recorded 7 March 2025 (when 2 runs began is not known)",
        ),
        (["soon", ""], "when it was recorded is not known"),
    ],
)
def test_times_of_any_kind_make_no_report_fail(tmp_path: Path, times: list[str | None], said: str) -> None:
    folder = make_study(tmp_path / "s", questions=1, temperatures=(0.2,), runs=len(times))
    lines = [json.loads(line) for line in folder.records_path.read_text().splitlines()]
    for line, time in zip(lines, times, strict=True):
        line["started_at"] = time
    folder.records_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert study_line(folder).endswith(said)
    page = report.open_page(folder.root, resamples=99)
    assert "First run" in report.facts_table(page)
    assert report.periods_text(page, report.periods_of(page))


def changed(folder: StudyFolder, **columns: object) -> report.Page:
    """Open the study with columns of its outcomes overwritten."""
    table = pd.read_parquet(folder.outcomes_path)
    table.assign(**columns).astype({c.name: c.dtype for c in COLUMNS}).to_parquet(folder.outcomes_path)
    return report.open_page(folder.root, resamples=99)


def test_all_failed_says_nothing_of_the_model(tmp_path: Path) -> None:
    page = changed(
        make_study(tmp_path / "s", questions=2, temperatures=(0.2,), runs=4),
        status="failed", completion=0, accuracy=0, executability=0, score=0.0, answer=None, answer_key=None,
        answer_status="unparsed", isolation=None, execution="no code", words_out=None, jaccard_mean=None,
    )  # fmt: skip
    assert report.lead(page).endswith("**No run got a reply**, so nothing here is about the model.")
    hurry = report.hurry(page)
    assert "8 of 8 runs came to no proper end (8 failed); they stay in every denominator." in hurry
    assert "says nothing about the model: run the study again" in hurry
    assert hurry.count("\n- ") == 0
    assert report.isolation_text(page) == "No generated code was run."


def test_unstable_without_a_right_run_says_what_changes(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "s", questions=1, temperatures=(0.2,), runs=4)
    completion = [0, 0, 1, 1]
    page = changed(
        folder, completion=completion, accuracy=0, executability=1, score=[x + 0.5 for x in completion],
        status=["truncated", "truncated", "answered", "answered"], answer_status="mismatched",
    )  # fmt: skip
    assert "It is **unstable**." in report.lead(page)
    hurry = report.hurry(page)
    assert "**no run was found right**; what changes is only whether a response comes to a proper end." in hurry
    assert "one response says little" not in hurry
    assert "2 of 4 runs came to no proper end (2 truncated)" in hurry
    assert "a higher `max_tokens` may change the picture" in hurry


def test_top_answer_is_none_read_where_that_is_commonest(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "s", questions=1, temperatures=(0.2,), runs=4)
    nothing = [True, True, True, False]
    page = changed(
        folder,
        answer_key=[None if n else "x=42" for n in nothing],
        answer=[None if n else '{"x": "42.00"}' for n in nothing],
        answer_status=["unparsed" if n else "matched" for n in nothing],
        accuracy=[int(not n) for n in nothing],
    )
    table = report.question_table(page).replace("\xa0", " ")
    assert "*none read* [75 %]{.interval}" in table
    cards = report.question_cards(page)
    assert "no answer read" in cards
    assert "[[42 ✓]{.answer} (1/4)]" in cards


def test_code_that_does_not_parse_never_started(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "s", questions=1, temperatures=(0.2,), runs=3)
    page = changed(folder, execution=["does not parse", "ran, right", "ran, right"])
    assert report.isolation_text(page) == (
        "Isolation of generated code: `bubblewrap` (3 runs). Of these, the code of 1 run does not parse, so it never "
        "started."
    )


def rows(**columns: list) -> pd.DataFrame:
    size = len(next(iter(columns.values())))
    base = {
        "run": list(range(size)), "status": ["answered"] * size, "words_out": [5] * size,
        "condition_id": ["c"] * size,        "answer_status": ["mismatched"] * size, "jaccard_mean": [0.5] * size,
    }  # fmt: skip
    return pd.DataFrame({**base, **columns}).astype({"jaccard_mean": "Float64", "answer_key": "string"})


def test_answer_shares_by_hand() -> None:
    table = rows(
        answer_key=["b", "a", None, "a", "c"],
        answer=['{"x": 2}', '{"x": 1}', None, '{"x": 1.0}', '{"x": "z"}'],
        answer_status=["mismatched", "matched", "unparsed", "matched", "mismatched"],
    )
    shares = answer_shares(table.assign(question_id="q"))["q", "c"]
    assert [(s.text, s.runs, s.right) for s in shares] == [("1", 2, True), ("2", 1, False), ("z", 1, False)]


def test_right_answers_are_one_in_the_form_of_the_truth() -> None:
    table = rows(
        answer_key=["a=0.6", "a=60%", "a=5"],
        answer=['{"a": "0.60"}', '{"a": "60 %"}', '{"a": "5"}'],
        answer_status=["matched", "matched", "mismatched"],
    )
    shares = answer_shares(table.assign(question_id="q"), {"q": "0\\.6"})["q", "c"]
    assert [(s.text, s.runs, s.right) for s in shares] == [("0\\.6", 2, True), ("5", 1, False)]


def test_typical_run_has_the_commonest_answer_and_is_closest() -> None:
    table = rows(answer_key=["a", "b", "b", "b"], jaccard_mean=[0.9, 0.2, 0.6, 0.6])
    chosen = typical_run(table)
    assert chosen is not None
    assert chosen["run"] == 2
    chosen = typical_run(rows(answer_key=["a", None, None], jaccard_mean=[0.9, 0.2, 0.6]))
    assert chosen is not None
    assert chosen["run"] == 2


def test_typical_run_without_answers_or_similarity() -> None:
    chosen = typical_run(rows(answer_key=[None, None], jaccard_mean=[None, None]))
    assert chosen is not None
    assert chosen["run"] == 0
    assert typical_run(rows(answer_key=[None], status=["failed"], words_out=[None])) is None


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ('{"mean": "3.5"}', "3\\.5"),
        ('{"a": 1, "b": [1, 2]}', "a \\= 1\\, b \\= \\[1\\, 2\\]"),
        ("not json", "not json"),
        (None, "*none read*"),
        (pd.NA, "*none read*"),
        ('{"x": "*bold* | <b>"}', "\\*bold\\* \\| \\<b\\>"),
    ],
)
def test_answers_as_text(answer: object, shown: str) -> None:
    assert answer_text(answer) == shown


def test_settings_hide_credentials_in_addresses(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "s", questions=1, runs=1)
    row = json.loads(folder.description_path.read_text())
    row["settings"]["endpoints"]["default"]["base_url"] = "https://user:secret@host.example/v1"
    folder.description_path.write_text(json.dumps(row))
    text = report.settings_text(report.open_page(folder.root, resamples=99))
    assert "secret" not in text
    assert "host.example/v1" in text


def test_wording() -> None:
    assert [count(n, "run") for n in (0, 1, 2, 1200)] == ["0 runs", "1 run", "2 runs", "1,200 runs"]
    assert count(2, "index", "indices") == "2 indices"
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    shares = [percent(x).replace("\xa0", " ") for x in (0, 0.001, 0.5, 0.999, 1, None)]
    assert shares == ["0 %", "<1 %", "50 %", ">99 %", "100 %", "–"]
    assert number(float("nan")) == "–"
    assert interval(0.1, None) == "–"
    assert interval(0.1, 0.25).replace("\xa0", " ") == "[0.10, 0.25]"


def test_shorten_cuts_at_words() -> None:
    assert shorten("one two\nthree", 20) == "one two three"
    assert shorten("one two three", 10) == "one two…"
    assert shorten("a" * 30, 10) == "a" * 9 + "…"
