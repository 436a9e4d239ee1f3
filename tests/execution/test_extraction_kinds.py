# ruff: noqa: E501
"""Kinds of responses whose code was taken wrongly once, each with inputs beside the one that was seen."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsqa.execution import extract

CODE = 'import pandas as pd\ndf = pd.read_csv("d.csv")\nprint(f"@n[{len(df)}]")'


def taken(text: str) -> str:
    found = extract(text).code
    assert found is not None
    return found.strip("\n")


@pytest.mark.parametrize(
    "code",
    [
        'def count(path):\n    """Count.\n\n    >>> count("d.csv")\n    3\n    """\n    return 3\n\nprint(f"@n[{count(1)}]")',
        'text = """\n>>> print(1)\n1\n"""\nprint(text)',
        'text = """\nIn [1]: x\n"""\nprint(text)',
        "note = '''\n... more\n'''\nprint(note)",
        "x = '<|endoftext|>'\nprint(x)",
        'x = "&lt;b&gt;"\nprint(x)',
        "print('a\u2028b')",
        "x = 1  # a\u0085b\nprint(x)",
        "x = 1  # \x0c\nprint(x)",
        "s = '''\n```\n'''.strip()\nprint(s)",
    ],
)
def test_code_that_parses_is_left_alone(code: str) -> None:
    assert taken(f"Here:\n```python\n{code}\n```\nDone.") == code


def test_a_session_is_still_cleaned() -> None:
    assert taken("```python\n>>> x = 1\n>>> print(x)\n1\n```") == "x = 1\nprint(x)"
    assert taken("```python\nIn [1]: x = f(1)\nIn [2]: print(x)\n```") == "x = f(1)\nprint(x)"
    assert taken("```python\nIn [1]: df.mean()\n```") == "df.mean()"


@pytest.mark.parametrize(
    "end",
    [
        "```<end_code>", "```<|EOT|>", "```<eos>", "```</answer>", "```.", "```**", "```<br>", "```\u200b", "```\0", "``` ",
        "```</s>", "```<|im_end|>", "``` The output is 3.", "```Output:", "```)", "```;", "```---", "```\u00a0", "```end",
        "````", "```<end_of_turn>", "```  <|end|>", "```<|eot_id|>", "```|", "```done",
    ],
)  # fmt: skip
def test_what_follows_a_closing_fence(end: str) -> None:
    assert taken(f"```python\n{CODE}\n{end}\nThis prints the number of rows, which is 3.") == CODE


@pytest.mark.parametrize("mark", ["<|EOT|>", "<|im_end|>", "<eos>", "<end_code>", "[EOS]", "</s>"])
def test_an_end_mark_in_an_unclosed_block(mark: str) -> None:
    assert taken(f"```python\n{CODE}\n{mark}") == CODE
    if not mark.startswith("["):  # glued to a line, '[EOS]' is an index
        assert taken(f"```python\n{CODE}{mark}\n```") == CODE


@pytest.mark.parametrize(
    "prose",
    [
        "\n\nThis prints the number of rows.", "\n\nThis prints the number of rows.\n\nIt is 3, as it should be.",
        "\n\n**Explanation:** the file is read, and its rows are counted.", "\n\n- It reads the file\n- It counts",
        "\nThis prints the number of rows.", "\n\nThe answer is 3.\n\n@n[3]",
    ],
)  # fmt: skip
def test_prose_in_a_block_that_is_never_closed(prose: str) -> None:
    assert taken(f"Here is the code:\n```python\n{CODE}{prose}") == CODE
    assert "number of rows" in extract(f"```python\n{CODE}\n\nThis prints the number of rows.").prose


def test_code_that_was_cut_off_is_not_mended() -> None:
    for cut in ("\n\nfor i in range(3)", "\n\nresult = df.groupby('x'", "\n\nif len(df) >"):
        assert taken(f"```python\n{CODE}{cut}").endswith(cut.strip())


def test_a_fence_in_a_string() -> None:
    code = f'{CODE}\nreport = """\n```\nrows\n```\n"""\nprint(len(report))'
    assert taken(f"```python\n{code}\n```\nDone.") == code
    code = f'doc = """\n```python\nx = 1\n```\n"""\n{CODE}'
    assert taken(f"```python\n{code}\n```\nDone.") == code
    two = extract(f"```python\n{code}\n```\nThen:\n```python\nprint(len(doc))\n```")
    assert two.code is not None
    assert two.code.strip() == f"{code}\n\nprint(len(doc))"


@pytest.mark.parametrize("odd", ["\ud83d", "\0", "\x07", "\u200b", "\ufeff"])
def test_characters_no_source_may_hold(odd: str) -> None:
    for text in (f"```python\n# a {odd} b\n{CODE}\n```", f"```python\n{CODE}\n# {odd}\n```"):
        code = taken(text)
        compile(code, "x", "exec")
        assert 'pd.read_csv("d.csv")' in code


@pytest.mark.parametrize(
    "tag",
    [
        "python3.11", "python-3", "main.py", "code", "script", "Python 3", "python3", "py3", "PYTHON", "{python}", "solution",
        "python3.12", "python_script", "analysis.py", "program", "ipython", "snippet", "python:main.py", "src/main.py",
        "python-code", "py3.11", "pandas", "notebook.ipynb", "{.python .numberLines}", 'python title="x.py"', "python {1-3}",
    ],
)  # fmt: skip
def test_tags_that_are_python_or_name_no_language(tag: str) -> None:
    assert taken(f"```{tag}\n{CODE}\n```") == CODE


@pytest.mark.parametrize(
    ("tag", "language"), [("r", "R"), ("sql", "SQL"), ("julia", "julia"), ("main.R", "R"), ("java", "java")]
)
def test_tags_of_other_languages(tag: str, language: str) -> None:
    found = extract(f"```{tag}\nx\n```")
    assert (found.code, found.language) == (None, language)


@pytest.mark.parametrize(
    "first", ["python import pandas as pd", "import pandas as pd", "pythonimport pandas as pd", "py import pandas as pd",
              "python3 import pandas as pd"],
)  # fmt: skip
def test_code_on_the_fences_own_line(first: str) -> None:
    rest = CODE.split("\n", 1)[1]
    assert taken(f"```{first}\n{rest}\n```") == CODE


def test_code_that_ends_on_its_last_line() -> None:
    assert taken(f"```python\n{CODE}```\nThis prints 3.") == CODE


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends(line_end: str) -> None:
    text = f"Here:\n```python\n{CODE}\n```\nDone."
    assert taken(text.replace("\n", line_end)) == CODE


def test_a_program_without_a_mark_among_prose() -> None:
    found = extract(f"To count the rows, run this:\n\n{CODE}\n\nThis prints the number of rows.")
    assert (found.code or "").strip() == CODE
    assert "This prints" in found.prose
    assert "import" not in found.prose
    for prose in ("I would import pandas and print the mean.", "from the file I take x (the first column) and sum it.",
                  "The mean (of x) is 3.\nprint it out if you like"):  # fmt: skip
        assert extract(prose).code is None


PIECES = st.sampled_from(
    ["x = 1", "print(x)", "for i in range(3):\n    print(i)", "# why", "y = [1,\n     2]", "s = '''a\n  b'''", ""]
)


@given(st.lists(PIECES, min_size=1, max_size=8), st.sampled_from(["python", "py", "", "python3.11", "code"]))
def test_code_that_parses_comes_back_as_it_stands(pieces: list[str], tag: str) -> None:
    code = "\n".join(["import math", "print(math.pi)", *pieces]).rstrip("\n")
    assert taken(f"Text.\n\n```{tag}\n{code}\n```\n\nMore text.") == code


@given(st.text(alphabet="`~>\n <|>python#=()\"'x\ud800\0\u2028", max_size=200))
def test_anything_is_taken_apart_without_an_error(text: str) -> None:
    extract(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 300_000, "(" * 300_000, "`" * 200_000, "```\n" * 40_000, "```python\n'''\n" * 5_000, "\ud800" * 100_000,
        "\0" * 200_000, "<|x|>" * 40_000, "import x\n" + "a = (\n" * 20_000, "{" * 300_000, "9" * 200_000,
    ],
    ids=["brackets", "parens", "ticks", "fences", "strings", "surrogates", "nul", "marks", "open", "braces", "digits"],
)  # fmt: skip
def test_a_great_deal_of_anything(text: str) -> None:
    from dsqa.metrics import compare_answer, read_answer, read_output
    from tests.metrics.questions import QUESTIONS

    start = time.process_time()
    extract(text)
    for key in ("count", "country", "vector", "normal", "two"):
        question = QUESTIONS[key]
        for wrapped in (text, f"@{next(iter(question.answers))}[{text}]"):
            compare_answer(read_answer(wrapped, question), question)
        read_output(text, text[:10_000], question)
    assert time.process_time() - start < 60


@pytest.mark.parametrize(
    ("path", "told"),
    [("/mnt/data/d.csv", True), ("data/d.csv", True), ("./D.csv", True), (r"C:\\x\\d.csv", True), ("e.csv", False)],
)
def test_a_wrong_path_is_its_own_reason(path: str, told: bool) -> None:
    from dsqa.execution import Snippet
    from dsqa.execution.classify import wrong_path

    detail = f"FileNotFoundError at line 2: [Errno 2] No such file or directory: '{path}'"
    said = wrong_path(detail, Snippet("x", "", {"d.csv": Path("d.csv")}))
    assert said.startswith("wrong path: ") is told
    assert said.endswith(detail)
