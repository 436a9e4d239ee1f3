from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from dsqa.bank import Bank, Question, builtin_bank_path, load_bank
from dsqa.errors import StudyError
from dsqa.prompting import build_messages, load_template, preview, shipped_templates
from dsqa.sampling.prepare import requests_of
from dsqa.study import StudyFolder, load_study

BUILTIN = load_bank(builtin_bank_path())


def own(folder: Path, text: str, name: str = "mine.md") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def error(name: str, base: Path | None = None) -> StudyError:
    with pytest.raises(StudyError) as caught:
        load_template(name, base)
    assert "\n" not in str(caught.value)
    return caught.value


def test_the_shipped_template_is_the_visible_file():
    template = load_template("question-v1")
    file = Path(__file__).parents[2] / "dsqa" / "prompting" / "templates" / "question-v1.md"
    assert template.text == file.read_text(encoding="utf-8")
    assert template.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert template.name == "question-v1"


@pytest.mark.parametrize("name", shipped_templates())
@pytest.mark.parametrize("question", BUILTIN, ids=lambda q: q.id)
def test_a_shipped_template_shows_question_format_data_and_whether_code_is_asked_for(name, question):
    (message,) = build_messages(question, BUILTIN, load_template(name), system=None, preview_rows=3)
    text = message["content"]
    assert message["role"] == "user"
    assert question.question in text
    assert question.format in text
    assert preview(BUILTIN.data_file(question), 3) in text
    assert (f'"{question.file_name}"' if name == "question-v1" else str(question.file_name)) in text
    assert ("```python" in text) == (name == "question-v1")  # a student asks for no program
    for answer in question.answers.values():
        # A short number may stand in the preview by chance; a ground truth of four characters may not. A format
        # that offers words to choose from names the right one too.
        shown = preview(BUILTIN.data_file(question), 3) + question.format
        assert len(answer) < 4 or answer not in text or answer in shown
    assert not re.search(r"\n\n\n|{{|{%|}}", text)


def test_a_question_without_a_data_file():
    question = Question(id=1, question="What is 1 + 1?", format="@sum[n]", level="easy", common_answers=[["sum", 2]])
    bank = Bank((question,), Path("nowhere"))
    (message,) = build_messages(question, bank, load_template("question-v1"), system=None, preview_rows=3)
    assert "What is 1 + 1?" in message["content"]
    assert "None" not in message["content"]
    assert "File:" not in message["content"]
    assert "read" not in message["content"]


def test_a_system_message_goes_first():
    messages = build_messages(
        BUILTIN["cars_rows"], BUILTIN, load_template("question-v1"), system="Be brief.", preview_rows=0
    )
    assert [m["role"] for m in messages] == ["system", "user"]
    assert messages[0]["content"] == "Be brief."


def test_the_prompt_is_a_pure_function():
    def ask():
        return build_messages(
            BUILTIN["cars_rows"], BUILTIN, load_template("question-v1"), system=None, preview_rows=3
        )

    assert ask() == ask()


def test_easy_questions_on_narrow_files_fit_a_small_models_budget():
    template = load_template("question-v1")
    narrow = [q for q in BUILTIN if q.level == "easy" and q.file_name in {"cars.csv", "tooth_growth.csv"}]
    assert len(narrow) >= 5  # those of the demo among them
    for question in narrow:
        (message,) = build_messages(question, BUILTIN, template, system=None, preview_rows=3)
        # SmolLM2 takes about 2.4 characters of such text to a token: 300 tokens.
        assert len(message["content"]) < 720, question.id


def test_a_users_file_is_found_beside_the_study(tmp_path):
    path = own(tmp_path, "Q: {{ question }}")
    template = load_template("mine.md", tmp_path)
    assert template == load_template(str(path))
    assert template.render(question="why?") == "Q: why?"


def test_line_ends_of_windows_and_a_bom_do_not_change_the_hash(tmp_path):
    path = own(tmp_path, "Q:\n{{ question }}\n")
    plain = load_template(str(path))
    path.write_bytes(b"\xef\xbb\xbfQ:\r\n{{ question }}\r\n")
    assert load_template(str(path)) == plain


def test_braces_in_a_question_are_not_a_template(tmp_path):
    own(tmp_path, "{{ question }}")
    assert load_template("mine.md", tmp_path).render(question="{{ 1 + 1 }} {% raw %}") == "{{ 1 + 1 }} {% raw %}"


def test_nothing_is_escaped_as_html(tmp_path):
    own(tmp_path, "{{ question }}")
    assert load_template("mine.md", tmp_path).render(question="a < b & 'c'") == "a < b & 'c'"


def test_an_unknown_name_lists_the_shipped_ones(tmp_path):
    caught = error("questoin-v1", tmp_path)
    assert all(name in caught.hint for name in shipped_templates())
    assert "did you mean 'question-v1'?" in caught.hint


def test_an_undefined_variable_names_the_ones_there_are(tmp_path):
    own(tmp_path, "{{ question }}\n\n{% if preview %}{{ formt }}{% endif %}")
    caught = error("mine.md", tmp_path)
    assert (caught.line, caught.message) == (3, "there is no variable 'formt'")
    assert "question, format, names, options, file_name, preview" in caught.hint
    assert "did you mean 'format'?" in caught.hint


def test_an_undefined_attribute_fails_in_one_line(tmp_path):
    own(tmp_path, "{{ question.author }}")
    with pytest.raises(StudyError, match=r"'mine\.md' fails"):
        load_template("mine.md", tmp_path).render(question="why?")


def test_a_syntax_error_names_the_line(tmp_path):
    own(tmp_path, "{{ question }}\n{% if %}\n")
    assert error("mine.md", tmp_path).line == 2


def test_a_template_without_the_question_is_refused(tmp_path):
    own(tmp_path, "Answer as {{ format }}")
    assert "never uses {{ question }}" in error("mine.md", tmp_path).message


def test_an_include_fails_in_one_line(tmp_path):
    own(tmp_path, "{{ question }}{% include 'other' %}")
    with pytest.raises(StudyError, match="fails"):
        load_template("mine.md", tmp_path).render(question="why?")


def test_a_strangers_template_cannot_reach_python(tmp_path):
    own(tmp_path, "{{ question.__class__.__mro__ }}")
    with pytest.raises(StudyError, match="unsafe"):
        load_template("mine.md", tmp_path).render(question="why?")


def test_a_template_that_is_not_utf8(tmp_path):
    (tmp_path / "mine.md").write_bytes(b"\xff{{ question }}")
    assert "UTF-8" in error("mine.md", tmp_path).message


def test_a_folder_is_not_a_template(tmp_path):
    assert "not a file" in error(".", tmp_path).message


def test_prompts_without_options_are_those_that_were_recorded():
    study = Path(__file__).parents[2] / "runs" / "smollm2-direct"
    folder = StudyFolder(study)
    description = folder.describe()
    hashes = {c.question_id: c.prompt_hash for c in description.cells}
    assert len(hashes) == 41
    requests = requests_of(folder, description, load_study(study / "study.yaml"))
    assert {c.question_id: c.prompt_hash for c in requests} == hashes


def test_the_default_prompts_are_those_that_are_recorded_everywhere():
    asked = hashlib.sha256()
    for question in BUILTIN:
        for message in build_messages(question, BUILTIN, load_template("question-v1"), system=None, preview_rows=5):
            asked.update(message["content"].encode())
    assert asked.hexdigest() == "bcf363efac70b6e0f3431045781a3ae32d6c03a4612ce282216cd7bd0b40eeee"


@pytest.mark.parametrize("name", shipped_templates())
def test_options_are_sent_with_the_question(name):
    question = Question(
        id="q", question="Which resists outliers?", format="@answer[letter]", level="easy",
        common_answers=[["answer", "B"]], options=["mean", "median"],
    )  # fmt: skip
    bank = Bank((question,), Path("nowhere"))
    (message,) = build_messages(question, bank, load_template(name), system=None, preview_rows=3)
    assert "Which resists outliers?\n\nA) mean\nB) median" in message["content"]
    assert "@answer[letter]" in message["content"]


@pytest.mark.parametrize("name", shipped_templates())
def test_an_open_question_is_asked_as_it_is(name):
    question = Question(id="q", question="Draw it.", format="", level="easy", common_answers=[], unmarked=["answer"])
    bank = Bank((question,), Path("nowhere"))
    (message,) = build_messages(question, bank, load_template(name), system=None, preview_rows=3)
    assert message["content"] == "Draw it."
