"""What runs leave is stored with the study, named in its tables, and found again; `dsqa show` prints one run."""

import json

import pytest
from click.testing import CliRunner

from dsqa.cli.show import show
from dsqa.errors import StudyError
from dsqa.outcomes import load_outcomes, score_study, show_artefacts
from tests.outcomes.studies import RIGHT_CODE, make_study, record

PLOT = "import matplotlib.pyplot as plt\nplt.hist([1, 2, 2])\nplt.title('ages')\nplt.legend(['x'])"
RESPONSES = [
    f"First:\n```python\n!pip install x\n{RIGHT_CODE}\n{PLOT}\n```\nIn R:\n```r\nmean(x)\n```",
    f"```python\n{RIGHT_CODE}\n```",
    "The mean is @mean[2.33].",
    "```python\nimport pandas as pd\npd.read_csv('a.csv').to_csv('out.csv')\npd.read_csv('a.csv')\n```",
    f"First:\n```python\n!pip install x\n{RIGHT_CODE}\n{PLOT}\n```",
    "```python\n1 / 0\n```",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("study")
    study = make_study(root, [record(run, text) for run, text in enumerate(RESPONSES)], runs=len(RESPONSES))
    score_study(study)
    return study


def test_the_outcomes_say_what_was_taken_left_out_and_drawn(folder):
    table = load_outcomes(folder.outcomes_path)
    assert table["figures"].tolist()[:2] == [1, 0]
    assert table["figures"].isna().tolist() == [False, False, True, False, False, False]
    summary = json.loads(table["extraction"][0])
    assert summary["taken"] == [[3, 10, "python", "Python"]]
    assert summary["left_out"] == [[14, 14, "r", "R, not Python: left out"]]
    assert summary["notes"] == ["line 3: notebook line left out: !pip install x"]
    assert table["extraction"][2] == "{}"
    assert set(json.loads(table["artefacts"][3])) == {"table", "file"}
    assert table["execution_key"][0] == table["execution_key"][4]


def test_runs_with_equal_figures_have_equal_results_though_addresses_differ(folder):
    # The legend's repr, the last value, holds an address.
    table = load_outcomes(folder.outcomes_path)
    assert table["result_key"][0] == table["result_key"][4]


def test_artefacts_are_found_by_question_run_and_kind(folder):
    found = show_artefacts(folder, "q1", kinds=("figure",))
    assert [(item.run, item.kind, item.outcome, item.accuracy) for item in found] == [
        (0, "figure", "ran, right", 1), (4, "figure", "ran, right", 1),
    ]  # fmt: skip
    assert found[0].paths == found[1].paths
    assert found[0].paths["png"].read_bytes().startswith(b"\x89PNG")
    assert found[0].paths["png"].is_relative_to(folder.artefacts_dir)
    drawn = found[0].drawn()
    assert (drawn["axes"][0]["title"], drawn["axes"][0]["marks"][0]["kind"]) == ("ages", "histogram")
    assert found[0].facts["title"] == "ages"
    assert [item.name for item in show_artefacts(folder, run=3)] == ["table 1", "out.csv"]
    assert show_artefacts(folder, "another") == []


def test_each_content_is_on_disk_once_and_in_no_line(folder):
    stored = [path for path in folder.artefacts_dir.rglob("*") if path.is_file()]
    assert sorted(path.suffix for path in stored) == [".csv", ".json", ".json", ".png", ".svg"]
    assert len(folder.executions_path.read_text()) < 10_000


def test_marking_again_runs_nothing_and_keeps_everything(folder, monkeypatch):
    before = load_outcomes(folder.outcomes_path)
    monkeypatch.setattr("dsqa.outcomes.score.execute", lambda *_, **__: pytest.fail("ran again"))
    score_study(folder)
    assert load_outcomes(folder.outcomes_path).equals(before)
    assert len(show_artefacts(folder, kinds=("figure",))) == 2


def test_a_deleted_file_is_no_longer_named(folder, tmp_path):
    item = show_artefacts(folder, kinds=("file",))[0]
    content = item.paths["csv"].read_bytes()
    item.paths["csv"].unlink()
    try:
        assert show_artefacts(folder, kinds=("file",))[0].paths == {}
    finally:
        item.paths["csv"].write_bytes(content)


def test_a_study_that_is_not_marked_is_one_clear_error(tmp_path):
    study = make_study(tmp_path, [record(0, "x")])
    with pytest.raises(StudyError, match="no outcomes yet"):
        show_artefacts(study)


def shown(folder, *options):
    return CliRunner().invoke(show, [str(folder.root), *options], standalone_mode=False)


def test_show_prints_a_run_from_its_response_to_its_figures(folder):
    text = shown(folder, "--run", "0").output
    for part in (
        "q1, run 0: model-a, temperature 0.7", "First:", "lines 3-10 (python): taken: Python",
        "lines 14-14 (r): R, not Python: left out", "notebook line left out: !pip install x", "ran, right",
        "@mean[2.33", "figure 1 (ages, 1 axes)", ".png", ".svg",
    ):  # fmt: skip
        assert part in text, part
    assert "nothing to run" not in text
    text = shown(folder, "-r", "3", "-q", "q1").output
    assert "table 1 (DataFrame 3 × 1)" in text
    assert "file out.csv" in text
    assert "ZeroDivisionError at line 1" in shown(folder, "-r", "5").output
    assert "none in the response" in shown(folder, "-r", "2").output


def test_show_as_data(folder):
    data = json.loads(shown(folder, "--run", "0", "--json").output)
    assert data["marks"]["accuracy"] == 1
    assert [block["taken"] for block in data["blocks"]] == [True, False]
    assert set(data["artefacts"][0]["files"]) == {"png", "svg", "json"}


@pytest.mark.parametrize(
    ("options", "message"),
    [(("-q", "q9"), "no run of the question 'q9' (there are: q1)"), (("-r", "99"), "no run 99"),
     (("-c", "zzz"), "no run under the condition 'zzz' (there are: model-a")],
)  # fmt: skip
def test_show_says_what_there_is_instead(folder, options, message):
    assert message in str(shown(folder, *options).exception)


def test_show_before_marking(tmp_path):
    study = make_study(tmp_path, [record(0, RESPONSES[0])])
    assert "not marked yet: dsqa score" in shown(study).output
