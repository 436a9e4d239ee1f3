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
        f"```python\n{CODE}\n``` Hope it helps!",
        f"Here is the code: ```python\n{CODE}\n```",
        f"~~~python\n{CODE}\n```",
        f"````python\n{CODE}\n```\nDone.",
        f"````markdown\n# Answer\n```python\n{CODE}\n```\n````",
        f"```markdown\n# Answer\n```python\n{CODE}\n```\n```",
        f"```\n```python\n{CODE}\n```",
        f"```python:analysis.py\n{CODE}\n```",
        f"```Python 3\n{CODE}\n```",
        f"[PYTHON]\n{CODE}\n[/PYTHON]",
        f"<python>\n{CODE}\n</python>",
        f"&lt;pre&gt;&lt;code&gt;{CODE.replace(chr(39), '&#39;')}&lt;/code&gt;&lt;/pre&gt;",
        f"* Step:\n\n\t```python\n\t{CODE.splitlines()[0]}\n\t{CODE.splitlines()[1]}\n\t```",
        f"{CODE}\n```\nThis prints the mean.",
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
        # R that parses as Python
        ("```python\nx <- mean(y)\nsummary(x)\n```", "R"),
        ("```\nlibrary(ggplot2)\nggplot(df, aes(x)) + geom_histogram()\n```", "R"),
        ("```python\nx <- c(1, 2)\nprint(mean(x))\n```", "R"),
        ("```python\ndata = read.csv('a.csv')\nprint(mean(data$x))\n```", "R"),
        ("```\ndf %>% summarise(m = mean(x))\n```", "R"),
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


@pytest.mark.parametrize(
    "code",
    [
        "x = 3\nprint(x < -1)",
        "if x <-1:\n    print(1)",
        "x <-1\nprint(1)\nimport os",
        "library = print\nprint('a$b', library)",
    ],
)
def test_python_that_looks_a_little_like_r_stays_python(code):
    assert extract(f"```python\n{code}\n```").language == "Python"


def test_a_one_line_fence_with_a_tag_is_code():
    assert extract("```python print(1)```").code == "print(1)\n"


def test_a_new_fence_ends_the_block_that_was_left_open():
    found = extract("```python\nx = 1\nprint(x)\n```python\nprint(x + 1)\n```")
    assert found.code == "x = 1\nprint(x)\n\nprint(x + 1)\n"
    assert "line 2: block is not closed" in found.notes


@pytest.mark.parametrize(
    ("first", "second"),
    [("Option 1:", "Option 2: with NumPy"), ("**Method 1**", "**Method 2**"), ("", "or"), ("Approach one", "Approach two"),
     ("", "Alternatively:")],
)  # fmt: skip
def test_the_second_of_two_ways_is_left_out(first, second):
    found = extract(
        f"{first}\n```python\nprint(sum([1, 2]) / 2)\n```\n{second}\n```python\nimport numpy as np\nprint(np.mean([1, 2]))\n```"
    )
    assert found.code == "print(sum([1, 2]) / 2)\n"
    assert found.blocks[1].why == "left out: an alternative to the code before it"


def test_claimed_output_that_parses_is_not_run():
    found = extract("```python\nprint(1)\n```\nOutput:\n```\nOLSResults(x)\n```")
    assert found.code == "print(1)\n"
    assert "OLSResults(x)" in found.prose


def test_a_timed_line_runs_and_an_assigned_command_does_not():
    found = extract("```python\n%time x = 2\nfiles = !ls\nprint(x)\n```")
    assert found.code == "x = 2\n#\nprint(x)\n"
    assert len(found.notes) == 2


def test_the_summary_says_what_was_taken_and_what_was_left_out():
    found = extract(
        f"```bash\npip install pandas\n```\n```python\n%matplotlib inline\n{CODE}\n```\nIn R:\n```r\nmean(x)\n```"
    )
    assert found.summary() == {
        "taken": [[5, 7, "python", "Python"]],
        "left_out": [[2, 2, "bash", "installation commands left out"], [11, 11, "r", "R, not Python: left out"]],
        "notes": ["line 5: notebook line left out: %matplotlib inline"],
    }
    assert extract("The mean is 3.").summary() == {}


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "```",
                "````",
                "~~~",
                "```python",
                "```r",
                "x = 1",
                "print(x)",
                "or",
                "",
                "<pre>",
                "</pre>",
                "> ```",
                "``` and so on",
                "[PYTHON]",
                "```markdown",
                "Output:",
            ]
        ),
        max_size=12,
    )
)
def test_every_line_is_taken_left_out_or_prose(lines):
    text = "\n".join(lines)
    found = extract(text)
    everything = found.prose + "\n".join(block.text for block in found.blocks)
    for line in lines:
        if line in {"x = 1", "print(x)", "or", "Output:"}:
            assert everything.count(line) >= text.split("\n").count(line), (text, found)
