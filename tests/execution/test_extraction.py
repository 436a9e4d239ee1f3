# ruff: noqa: E501
"""What counts as code in a response; every form that models write has its own test."""

import ast
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.execution import extract

CODE = "import pandas as pd\nprint(pd.read_csv('a.csv').mean())"


@pytest.mark.parametrize(
    "response",
    [
        f"```python\n{CODE}\n```",
        f"Sure!\n```python\n{CODE}\n```\nDone.",
        f"```py\n{CODE}\n```",
        f"```Python\n{CODE}\n```",
        f"``` python\n{CODE}\n```",
        f"```{{python}}\n{CODE}\n```",
        f"```{{.python .numberLines}}\n{CODE}\n```",
        f'```python title="a.py"\n{CODE}\n```',
        f"```\n{CODE}\n```",
        f"~~~python\n{CODE}\n~~~",
        f"`````python\n{CODE}\n`````",
        f"```python\n{CODE}\n`````",
        f"```python\n{CODE}",
        f"{CODE}\n```",
        f"```python\n{CODE}\n```\n```",
        CODE,
        f"```python\r\n{CODE.replace(chr(10), chr(13) + chr(10))}\r\n```",
        "1. Load:\n   ```python\n   import pandas as pd\n   print(pd.read_csv('a.csv').mean())\n   ```",
        "- ```python\n  import pandas as pd\n  print(pd.read_csv('a.csv').mean())\n  ```",
        "> ```python\n> import pandas as pd\n> print(pd.read_csv('a.csv').mean())\n> ```",
        "Use this:\n\n    import pandas as pd\n    print(pd.read_csv('a.csv').mean())\n\nIt prints the mean.",
        "Use this:\n\n    import pandas as pd\n    print(pd.read_csv('a.csv').mean())",
        f'<pre><code class="language-python">{CODE}</code></pre>',
        f"<pre>\n{CODE}\n</pre>",
        ">>> import pandas as pd\n>>> print(pd.read_csv('a.csv').mean())\n3.5\n",
        "```pycon\n>>> import pandas as pd\n>>> print(pd.read_csv('a.csv').mean())\na   3.5\n```",
        "```\nIn [1]: import pandas as pd\nIn [2]: print(pd.read_csv('a.csv').mean())\nOut[2]: 3.5\n```",
        "```python\nimport pandas as pd\nprint(pd.read_csv(&#39;a.csv&#39;).mean())\n```",
        f"```python\n\ufeff{CODE}\n```",
    ],
)
def test_one_block_in_every_form(response):
    found = extract(response)
    assert found.code is not None
    assert ast.dump(ast.parse(found.code)) == ast.dump(ast.parse(CODE))
    assert found.language == "Python"
    assert "read_csv" not in found.prose


def test_prose_is_the_response_without_code_but_with_claimed_output():
    found = extract(f"Before.\n```python\n{CODE}\n```\nBetween.\n```\na    3.5\n```\nAfter.")
    assert found.prose == "Before.\nBetween.\na    3.5\nAfter."


@pytest.mark.parametrize(
    "response",
    ["", "42", "The mean is 3.5.", "@mean[3.5]", "mean: 3.5", "x = 1", "```\n3.5\n```", "```\nmean: 3.5\nsd: 1.2\n```",
     "```\n['a', 'b']\n```", "```text\nimport this\n```", "```output\nprint(1)\n```", "```json\n{\"a\": 1}\n```",
     "Yes", "```python\n```", "```", "````\n````", "```\n   a   b\n0  1   2\n```"],
)  # fmt: skip
def test_what_is_not_code(response):
    found = extract(response)
    assert found.code is None
    assert found.language is None


@pytest.mark.parametrize(
    ("response", "language"),
    [
        ('```r\nx <- read.csv("a.csv")\nmean(x$a)\n```', "R"),
        ("```{r}\nlibrary(dplyr)\n```", "R"),
        ('```\nx <- read.csv("a.csv")\nmean(x$a)\n```', "R"),
        ('```python\nx <- read.csv("a.csv")\nmean(x$a)\n```', "R"),
        ("```python\n%%R\nx <- 1\n```", "R"),
        ("```sql\nselect 1\n```", "SQL"),
        ("```javascript\nconsole.log(1)\n```", "javascript"),
        ("```bash\npython analysis.py\n```", "shell"),
    ],
)
def test_another_language_is_said_and_not_taken(response, language):
    found = extract(response)
    assert found.code is None
    assert found.language == language
    assert any("not Python" in note for note in found.notes)


def test_python_beside_r_is_taken_and_the_r_noted():
    found = extract(f"```python\n{CODE}\n```\nIn R:\n```r\nmean(x)\n```")
    assert found.code == CODE + "\n"
    assert any("R, not Python" in note for note in found.notes)


def test_installation_alone_is_no_code_and_no_other_language():
    found = extract("```bash\npip install pandas\n```")
    assert (found.code, found.language) == (None, None)


@pytest.mark.parametrize(
    "line", ["!pip install pandas", "%matplotlib inline", "%%time", "pip install pandas", "df?", "%pip install x"]
)
def test_notebook_lines_go_and_line_numbers_stay(line):
    found = extract(f"```python\n{line}\n{CODE}\n```")
    assert found.code is not None
    assert found.code.splitlines()[1:] == CODE.splitlines()
    assert any(line in note for note in found.notes)


def test_a_notebook_line_inside_a_block_leaves_a_pass():
    found = extract("```python\ntry:\n    import x\nexcept ImportError:\n    !pip install x\nprint(1)\n```")
    assert found.code is not None
    ast.parse(found.code)


def test_a_percent_at_the_start_of_a_line_of_python_stays():
    code = "x = (7\n% 4)\nprint(x)"
    assert extract(f"```python\n{code}\n```").code == code + "\n"


def test_an_exclamation_in_a_string_stays():
    code = 'print("""\n!pip install x\n""")'
    assert extract(f"```python\n{code}\n```").code == code + "\n"


def test_html_escapes_that_happen_to_parse_are_undone():
    found = extract("```python\nx = 1\nprint(x &lt; 2)\n```")
    assert found.code == "x = 1\nprint(x < 2)\n"


def test_an_entity_in_a_string_stays():
    code = "print('a &lt; b')"
    assert extract(f"```python\n{code}\n```").code == code + "\n"


def test_code_cut_off_by_the_token_limit_is_code_that_does_not_parse():
    found = extract("```\nimport pandas as pd\nprint(pd.read_csv('a.csv'")
    assert found.code is not None
    assert found.code.startswith("import pandas")


def test_steps_run_one_after_the_other():
    found = extract(
        "Load:\n```python\nimport pandas as pd\ndf = pd.DataFrame({'a': [1]})\n```\nThen:\n```python\nprint(df.a.mean())\n```"
    )
    assert found.code == "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\n\nprint(df.a.mean())\n"
    assert [b.taken for b in found.blocks] == [True, True]


def test_steps_followed_by_the_complete_code_run_once():
    full = "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\nprint(df.a.mean())"
    found = extract(
        f"```python\nimport pandas as pd\ndf = pd.DataFrame({{'a': [1]}})\n```\nNow:\n```python\n{full}\n```"
    )
    assert found.code == full + "\n"
    assert any("stands in a longer block" in note for note in found.notes)


def test_a_corrected_version_replaces_what_came_before():
    found = extract(
        "```python\nimport math\nprint(math.sqr(4))\n```\nOops, here is the corrected code:\n```python\nimport math\nprint(math.sqrt(4))\n```"
    )
    assert found.code == "import math\nprint(math.sqrt(4))\n"


def test_an_alternative_is_left_out():
    found = extract(
        "```python\nx = [1, 2]\nprint(sum(x) / 2)\n```\nAlternatively, with a library:\n```python\nimport statistics\nprint(statistics.mean(x))\n```"
    )
    assert found.code == "x = [1, 2]\nprint(sum(x) / 2)\n"
    assert [b.taken for b in found.blocks] == [True, False]


def test_a_step_that_goes_on_is_not_mistaken_for_the_complete_code():
    found = extract("```python\nx = 3\nprint(x)\n```\nTo complete the final code, add:\n```python\nprint(x + 1)\n```")
    assert found.code == "x = 3\nprint(x)\n\nprint(x + 1)\n"


def test_a_repeated_block_runs_once():
    found = extract(f"```python\n{CODE}\n```\nAgain:\n```python\n{CODE}\n```")
    assert found.code == CODE + "\n"


def test_an_excerpt_quoted_after_the_code_is_left_out():
    found = extract(f"```python\n{CODE}\nprint(2)\n```\nThe line\n```python\nprint(2)\n```\nprints two.")
    assert found.code == CODE + "\nprint(2)\n"


def test_a_fence_of_other_length_inside_does_not_end_the_block():
    code = 'print("""\n```\n""")'
    assert extract(f"````python\n{code}\n````").code == code + "\n"


@pytest.mark.parametrize(
    "unit",
    ["`", "```\n", "```python\nx=1\n```\n", "(", "```python\n(", "<pre>", ">>> x=1\n", "&lt; ", "    x = 1\n", "\t\n", "> ",
     "x <- ", "```python\n%m x\n", "Alternatively\n```python\na=1\nprint(a)\n```\n", "\0", "f'{", "~~~\n", " "],
)  # fmt: skip
def test_time_grows_no_faster_than_the_text(unit):
    def seconds(characters):
        text = unit * (characters // len(unit))
        start = time.process_time()
        extract(text)
        return time.process_time() - start

    seconds(1000)
    small, large = min(seconds(40_000) for _ in range(2)), seconds(400_000)
    # Ten times the text: quadratic would take a hundred times as long.
    assert large < 40 * small + 0.5


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="`~\n \tabc=()#>'\"<pre>/!%&;0123:[]{}"))
def test_any_text_gives_an_answer_and_loses_nothing_to_a_crash(text):
    found = extract(text)
    assert (found.code is None) == (not any(block.taken for block in found.blocks))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["x = 1", "print(x)", "import os", "for i in range(3):\n    print(i)", "y = [1,\n 2]"]),
        min_size=1,
    ),
    st.integers(3, 7),
    st.sampled_from("`~"),
)
def test_a_fenced_program_comes_back_as_it_was(parts, length, mark):
    code = "\n".join(parts)
    fence = mark * length
    assert extract(f"Text.\n{fence}python\n{code}\n{fence}\nMore.").code == code + "\n"
