"""How many right answers are rejected and how many wrong ones accepted, over a bank and many ways of writing them.

``python -m benchmarks.answer_ways`` takes the built-in bank; ``--bank FILE`` any other, and ``--labels FILE`` its
answers where they lie in a file of their own (DABench's do: ``--bank da-dev-questions.jsonl --labels
da-dev-labels.jsonl``). ``--show`` prints each text that was taken for what it is not.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from dsqa.bank import Question, builtin_bank_path, load_bank
from dsqa.metrics import compare_answer, read_answer
from dsqa.values import parse_number, parse_truth

_PROSE = "I load the file, drop 3 missing rows and take the values of 2015; see step 2."
_AROUND = (
    "{}", "**{}**", "{}.", "The answer is: {}", "Final answer: {}\n", "```\n{}\n```", "`{}`", "# Answer\n{}",
    "> {}", "- {}", "| result |\n|---|\n| {} |", "<answer>{}</answer>", "{}!", "*{}*.", "({})", "$${}$$", "__{}__",
    "My first guess was @{name}[0.123], but it should be {}", "<think>@{name}[9]</think>\n{}", "{}<|im_end|>",
    "{}\n\nLet me know if you have questions about the 5 steps.", "\u200b{}\u200b", "\r\n{}\r\n", "{}\nN = 100",
    "1. Load\n2. Compute\n\n{}",
)  # fmt: skip
_VALUES = (
    "{}", " {} ", "**{}**", "`{}`", '"{}"', "${}$", "\\text{{{}}}", "\\boxed{{{}}}", "'{}'", "<b>{}</b>", "*{}*",
    "{}.", "\n{}\n",
)  # fmt: skip
_NUMBERS = (
    "{}0", "+{}", "{}00", "np.float64({})", "about {}", "approximately {}", "= {}", "≈ {}", "exactly {}", "({})",
    "[{}]", "[[{}]]", "{} (rounded)",
)  # fmt: skip
_OUTRIGHT = (
    "The answer is {}.", "**Answer:** {}", "Final answer: **{}**", "\\boxed{{{}}}", "Answer: {}",
    "The answer is **{}**.",
    "So the final answer is {}.", "{}", "I think the answer is {}.", "***ANSWER***: ***{}***", "The answer is: {}!",
    "Thus, the answer is ${}$.",
)  # fmt: skip
_WRONG_WORDS = (
    "{} or 17", "not {}", "{} million", "between {} and 99999", "{}?", "more than {}", "{} thousand", "half of {}",
    "{} to 99999", "at least {}", "{} dozen",
)  # fmt: skip


def right_texts(question: Question) -> Iterator[str]:
    """Yield responses that answer a question rightly."""
    truths = question.answers
    said = " ".join(f"@{name}[{truth}]" for name, truth in truths.items())
    first = next(iter(truths))
    for around in _AROUND:
        yield f"{_PROSE}\n\n" + around.replace("{name}", first).replace("{}", said)
    yield "\n".join(f"{_PROSE} @{name}[{truth}]" for name, truth in reversed(truths.items()))
    yield said.upper() if all(parse_truth(t).kind in {"number", "boolean"} for t in truths.values()) else said
    for value in _VALUES:
        if not all(truth and truth[-1] not in ".!" for truth in truths.values()):
            break
        yield " ".join(f"@{name}[{value.format(truth)}]" for name, truth in truths.items())
    for number in _NUMBERS:
        written = {name: _written(truth, number) for name, truth in truths.items()}
        yield " ".join(f"@{name}[{value}]" for name, value in written.items())
    if (
        len(truths) == 1
        and truths[first]
        and (parse_truth(truths[first]).kind != "string" or len(truths[first].split()) <= 3)
    ):
        for outright in _OUTRIGHT:
            yield outright.format(truths[first])


def wrong_texts(question: Question) -> Iterator[str]:
    """Yield responses that answer a question wrongly, or not at all."""
    truths = question.answers
    yield _PROSE
    yield question.format
    yield f"{_PROSE} {question.question}"
    said = " ".join(f"@{name}[{truth}]" for name, truth in truths.items())
    yield f"<think>{said}"
    yield f"<think>{said}</think> I cannot tell."
    yield f"{said}\nNo: " + " ".join(f"@{name}[{_another(truth)}]" for name, truth in truths.items())
    for _ in range(3):
        yield " ".join(f"@{name}[{_another(truth, _ + 1)}]" for name, truth in truths.items())
    first = next(iter(truths))
    number = parse_number(truths[first])
    if number is None:
        return
    for words in _WRONG_WORDS if number.value else _WRONG_WORDS[:2]:  # no millions are none
        yield " ".join(f"@{name}[{words.format(truth)}]" for name, truth in truths.items())
    if len(truths) == 1:
        yield f"It is not true that the answer is {truths[first]}."
        yield f"If the answer is {truths[first]}, then the data were cleaned."
        yield f"I doubt that the answer is {truths[first]}."
        yield f"The value {truths[first]} is mentioned in passing."
        yield f"The answer is not {truths[first]}."


def _written(truth: str, way: str) -> str:
    plain_number = re.fullmatch(r"-?\d+(?:\.\d+)?", truth)
    if plain_number is None or (way.startswith("+") and truth.startswith("-")):
        return truth
    return way.format(truth) if "." in truth or not way.startswith("{}0") else f"{truth}.{'0' * (len(way) - 2)}"


def _another(truth: str, by: int = 1) -> str:
    number = parse_number(truth)
    if number is not None and number.finite:
        return str(number.value + by * Decimal(1).scaleb(number.exponent) * 7)
    value = parse_truth(truth)
    if value.kind == "boolean":
        return "no" if value.boolean else "yes"
    return f"another{by}"


def load(bank: Path, labels: Path | None) -> list[Question]:
    """Return a bank's questions, their answers from a file beside it where there is one."""
    if labels is None:
        return list(load_bank(bank))
    known = {row["id"]: row["common_answers"] for row in map(json.loads, labels.read_text("utf-8").splitlines())}
    rows = [json.loads(line) for line in bank.read_text("utf-8").splitlines()]
    return [
        Question.model_validate(
            {**{k: row[k] for k in ("question", "format", "level", "constraints")}, "id": str(row["id"]),
             "common_answers": known[row["id"]]}
        )
        for row in rows
    ]  # fmt: skip


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bank", type=Path, default=builtin_bank_path())
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--show", action="store_true", help="print each text that was taken for what it is not")
    arguments = parser.parse_args()
    start = time.process_time()
    for kind, texts, wanted in (("right", right_texts, True), ("wrong", wrong_texts, False)):
        total = missed = 0
        for question in load(arguments.bank, arguments.labels):
            for text in texts(question):
                total += 1
                comparison = compare_answer(read_answer(text, question), question)
                if comparison.matched is not wanted:
                    missed += 1
                    if arguments.show:
                        print(f"{question.id}: {text!r}: {[(p.truth, p.answer, p.reason) for p in comparison.parts]}")
        verb = "rejected" if wanted else "accepted"
        print(f"{kind} answers {total}, {verb} {missed}")
    print(f"{time.process_time() - start:.1f} s CPU")


if __name__ == "__main__":
    main()
