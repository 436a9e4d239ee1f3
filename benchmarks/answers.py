"""Seconds of CPU in which 100,000 typical answers are read and compared, on one core.

Run it on a quiet machine: ``python benchmarks/answers.py``. A typical answer is a paragraph, a program in a fence
and ``@name[value]``s; one in three is right, one in ten cannot be read, the wrong ones are of thirty kinds per
question, as in many runs of one question. ``--different`` makes every wrong answer another one: the worst case.
"""

from __future__ import annotations

import argparse
import time

from dsqa.bank import Question, builtin_bank_path, load_bank
from dsqa.metrics import compare_answer, read_answer, read_output
from dsqa.values import parse_number

PROSE = "To work this out I load the data, drop what is missing and compute the value [1]; it is shown below. " * 3
CODE = '```python\nimport pandas as pd\ndf = pd.read_csv("data.csv")\nprint(f"@answer[{df.x.mean():.2f}]")\n```\n'


def responses(question: Question, count: int, kinds: int) -> list[str]:
    """Return texts that answer a question, rightly, wrongly in so many ways, or not at all."""
    texts = []
    for i in range(count):
        if i % 10 == 9:
            texts.append(f"{PROSE}\n{CODE}The value is printed by the program, number {i}.")
            continue
        said = []
        for name, truth in question.common_answers:
            number = parse_number(truth)
            finite = number is not None and number.finite
            wrong = f"{float(number.value) + (i % kinds + 1) / 7:.4f}" if finite else f"{truth} {i % kinds}"
            said.append(f"@{name}[{truth if i % 3 == 0 else wrong}]")
        texts.append(f"{PROSE}\n{CODE}\nRun {i}: **{' '.join(said)}**")
    return texts


def main() -> None:
    """Print the seconds, by what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--different", action="store_true", help="every wrong answer is another one")
    arguments = parser.parse_args()
    total = arguments.answers
    bank = list(load_bank(builtin_bank_path()))
    each = max(1, total // len(bank))
    batches = [(question, responses(question, each, each if arguments.different else 30)) for question in bank]
    count = sum(len(texts) for _, texts in batches)
    start = time.process_time()
    readings = [(question, [read_answer(text, question) for text in texts]) for question, texts in batches]
    read = time.process_time() - start
    start = time.process_time()
    matched = sum(compare_answer(r, question).matched for question, rs in readings for r in rs)
    compared = time.process_time() - start
    start = time.process_time()
    for question, texts in batches:
        for text in texts:
            read_output(text[-200:], None, question)
    output = time.process_time() - start
    print(f"answers                 {count}, of them right {matched}")
    print(f"read from text          {read:.1f} s")
    print(f"compared                {compared:.1f} s")
    print(f"read and compared       {read + compared:.1f} s CPU (target: under 20 s for 100,000)")
    print(f"read from output too    {output:.1f} s")


if __name__ == "__main__":
    main()
