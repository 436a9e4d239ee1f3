"""Does an answer match the ground truth? One part at a time, with the reason.

How numbers are rounded: see `rounding`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from dsqa.bank import Question
from dsqa.metrics.answers.choices import Choice, chosen
from dsqa.metrics.answers.conventions import convention_of
from dsqa.metrics.answers.question import Rule, memo_of, rule_of
from dsqa.metrics.answers.reading import Reading
from dsqa.metrics.answers.rounding import canonical_key, compare_number
from dsqa.values import (
    Value,
    canonical_string,
    parse_boolean,
    parse_interval,
    parse_moment,
    parse_nothing,
    parse_range,
    parse_truth,
    plain,
    split_items,
    with_decimal_point,
)

__all__ = ["LITERALLY", "AnswerStatus", "Comparison", "Part", "compare_answer"]

LITERALLY = "another text (compared literally)"
"""The reason where a text was held against a text word for word, so that another wording of it would not match."""

_MOST_KEPT = 4096
_LONGEST_KEPT = 200
_CONJOINED = re.compile(r"\s*(?:[,;]\s*(?:(?:and|&)\s+)?|\s(?:and|&|und|et)\s)\s*", re.IGNORECASE)
_FILLING = frozenset(
    [
        "it",
        "they",
        "there",
        "this",
        "that",
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "were",
        "does",
        "do",
        "did",
        "has",
        "have",
        "be",
        "been",
        "indeed",
        "any",
        "at",
        "all",
        "we",
        "i",
        "you",
        "of",
        "to",
        "in",
        "our",
        "on",
        "for",
        "statistically",
        "level",
        "data",
        "with",
        "no",
        "not",
        "yes",
    ]
)
_PRONOUNS = frozenset({"it", "they", "there", "this", "that"})
_AUXILIARIES = frozenset({"is", "are", "was", "were", "does", "do", "did", "has", "have"})
_DENYING = re.compile(r"\b(?:no|not|never|none|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)
_UN = re.compile(r"^(?:non|in|un|im|ir|dis|ab)[\s-]?(?=\w{4})")
_WORD = re.compile(r"[^\W_]+(?:['’]t)?")
_AND = re.compile(r"(?:and|&)\s+", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d{1,3})[.)]\s+(?=\S)")
_LABEL_OF_RANGE = re.compile(
    r"^\s*(?:\d{2}(?:\.\d)?\s?%\s*)?(?:CI|confidence interval|interval|range)\s*[:=]?\s*", re.I
)

AnswerStatus = Literal["matched", "mismatched", "partial", "unparsed", "unmarked"]


@dataclass(frozen=True)
class Part:
    """One part of an answer beside its ground truth.

    Parameters
    ----------
    name, truth
        The part and its ground truth.
    answer
        The value read, or None.
    matched
        Whether they match.
    reason
        Why, in a few words.
    key
        The answer in canonical form; equal answers have equal keys, and whatever matches has the truth's key.
    convention
        For a mismatch: the convention under which the answer would be right, or "" (see `conventions`).
    """

    name: str
    truth: str
    answer: str | None
    matched: bool
    reason: str
    key: str
    convention: str = ""


@dataclass(frozen=True)
class Comparison:
    """An answer compared with the ground truth.

    Parameters
    ----------
    status
        matched: every part matches; partial: some do; mismatched: none does although one was read;
        unparsed: no part could be read; unmarked: the question has no ground truth.
    parts
        One per part of the ground truth, in its order.
    """

    status: AnswerStatus
    parts: tuple[Part, ...]

    @property
    def matched(self) -> bool:
        """Whether every part matches."""
        return self.status == "matched"

    @property
    def share(self) -> float:
        """Share of the parts that match, in [0, 1]; NaN where there is no ground truth."""
        return math.nan if not self.parts else sum(part.matched for part in self.parts) / len(self.parts)

    @property
    def convention(self) -> str | None:
        """The conventions that explain the parts that do not match, or None where none is known."""
        named = dict.fromkeys(part.convention for part in self.parts if part.convention)
        return "; ".join(named) or None

    @property
    def key(self) -> str | None:
        """The whole answer in canonical form, ``name=value; …``; None where nothing was read."""
        if self.status in {"unparsed", "unmarked"}:
            return None
        return "; ".join(f"{part.name}={part.key}" for part in self.parts)


def compare_answer(reading: Reading, question: Question) -> Comparison:
    """Compare what was read with the question's ground truth.

    Parameters
    ----------
    reading
        From `read_answer` or `read_output`.
    question
        The question; its `common_answers` are the ground truth, and its fields ``unit``, ``tolerance``, ``rounding``,
        ``ordered``, ``decimal_comma`` and ``traps`` are heeded.
    """
    return compare_values(reading.values, question)


def compare_values(values: Mapping[str, str], question: Question) -> Comparison:
    """Compare values by name, however they were come by, with the question's ground truth."""
    parts = [_part(question, name, truth, values.get(name)) for name, truth in question.common_answers]
    if not parts:
        return Comparison("unmarked", ())
    hits = sum(part.matched for part in parts)
    if all(part.answer is None for part in parts):
        return Comparison("unparsed", tuple(parts))
    return Comparison("matched" if hits == len(parts) else "partial" if hits else "mismatched", tuple(parts))


def _part(question: Question, name: str, truth_text: str, answer: str | None) -> Part:
    if answer is None:
        return Part(name, truth_text, None, matched=False, reason="no answer was read", key="?")
    # Runs of one question give few different answers.
    memo = memo_of(question)
    known: Part | None = memo.get(("part", name, answer))
    if known is not None:
        return known
    rule = rule_of(question, name)
    truth = parse_truth(with_decimal_point(truth_text, declared=True) if rule.decimal_comma else truth_text)
    matched, reason, key = _compare_part(truth, answer, rule)
    convention = "" if matched else convention_of(question, name, truth, answer, rule, compare)
    if convention:
        reason = f"{reason}; right under another convention: {convention}"
    part = Part(name, truth_text, answer, matched, reason, key.replace(";", "\\;"), convention)
    if len(answer) <= _LONGEST_KEPT and len(memo) < _MOST_KEPT:
        memo["part", name, answer] = part
    return part


def _compare_part(truth: Value, answer: str, rule: Rule) -> tuple[bool, str, str]:
    """Compare with the truth, the options it is one of, and the other values that are right too."""
    matched, reason, key = (
        compare(truth, answer, rule) if rule.choice is None else _compare_choice(truth, answer, rule)
    )
    if not matched:
        for other in rule.accepted:
            if compare(parse_truth(other), answer, replace(rule, choice=None))[0]:
                return True, f"right too: '{other}'", canonical_key(truth.text)
    return matched, reason, key


def _compare_choice(truth: Value, answer: str, rule: Rule) -> tuple[bool, str, str]:
    choice: Choice = rule.choice  # type: ignore[assignment]
    letters = chosen(answer, choice)
    right = ", ".join(choice.letters)
    if letters is not None:
        same = letters == choice.letters
        reason = f"option {', '.join(letters)}" + ("" if same else f", and the truth is {right}")
        return same, reason, canonical_key(truth.text) if same else canonical_key(", ".join(letters))
    texts = [dict(choice.options)[letter] for letter in choice.letters]
    # '20.0' for the option '20'.
    if len(texts) == 1 and texts[0] and compare(parse_truth(texts[0]), answer, rule)[0]:
        return True, f"the text of option {right}", canonical_key(truth.text)
    if canonical_string(truth.text) == canonical_string(answer):
        return True, "the same text", canonical_key(truth.text)
    return False, "none of the options", canonical_key(answer)


def _said_of(asked: frozenset[str], answer: str) -> bool | None:
    """Read a yes or no out of the question's own words: ``not significant`` for "Is it significant?"."""
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(plain(answer))]
    if not asked or not 0 < len(words) <= 12:
        return None
    denied = bool(_DENYING.search(plain(answer)))
    told, short = 0, [word for word in words if word not in _FILLING and not word.endswith("n't")]
    for word in short:
        if word in asked:
            told += 1
        elif _UN.sub("", word) in asked:
            told, denied = told + 1, not denied
        elif word not in {"non"}:
            return None
        else:
            denied = not denied
    if not told and not (
        _PRONOUNS.intersection(words) and _AUXILIARIES.intersection(w.removesuffix("n't") for w in words)
    ):
        return None
    if words[0] == "yes":
        return None if denied else True
    return not denied


def compare(truth: Value, answer: str, rule: Rule) -> tuple[bool, str, str]:
    """Return whether an answer matches a truth, why, and the answer's key."""
    if "," in answer:
        answer = with_decimal_point(answer, declared=rule.decimal_comma)
    if truth.kind == "number" and truth.number is not None:
        matched, reason, key = compare_number(truth.number, answer, rule)
        if not matched and truth.number.unit and canonical_string(truth.text) == canonical_string(answer):
            return True, "the same text", canonical_key(truth.text)
        return matched, reason, key
    truth_key = canonical_key(truth.text)
    if canonical_string(truth.text) == canonical_string(answer):
        return True, "the same text", truth_key
    if truth.kind == "boolean":
        said = parse_boolean(answer, leading=True)
        said = _said_of(rule.asked, answer) if said is None else said
        if said is None:
            return False, "is no truth value", canonical_key(answer)
        if said == truth.boolean:
            return True, "the same truth value", truth_key
        return False, "the opposite truth value", canonical_key(str(said))
    if truth.kind == "nothing":
        same = parse_nothing(truth.text) == parse_nothing(answer)
        return (
            same,
            "no value, as the truth" if same else "a value, and the truth is none",
            truth_key if same else canonical_key(answer),
        )
    if truth.kind == "blank":
        empty = plain(answer) in {"", "[]", "()", "{}", "set()"} or parse_nothing(answer) == "none"
        return empty, "empty, as the truth" if empty else "not empty", truth_key if empty else canonical_key(answer)
    if truth.kind == "moment":
        same = parse_moment(answer) == parse_moment(truth.text)
        return same, "the same moment" if same else "another moment", truth_key if same else canonical_key(answer)
    if truth.kind == "range":
        same, reason = _same_range(truth.text, answer, rule)
        return same, reason, truth_key if same else canonical_key(answer)
    if truth.kind in {"vector", "mapping"}:
        matched, reason = _compare_items(truth, answer, rule)
        return matched, reason, truth_key if matched else canonical_key(answer)
    if _same_members(truth.text, answer):
        return True, "the same words", truth_key
    return False, LITERALLY, canonical_key(answer)


def _same_members(truth: str, answer: str) -> bool:
    """Whether two texts name the same few things: ``a and b`` and ``a, b``."""
    if len(answer) > 300 or not (_CONJOINED.search(truth) or _CONJOINED.search(answer)):
        return False
    left, right = (
        [canonical_string(part) for part in _CONJOINED.split(plain(t).strip("[](){}")) if part]
        for t in (truth, answer)
    )
    return len(left) > 1 and left == right and all(len(part.split()) <= 4 for part in left)


def _same_range(truth: str, answer: str, rule: Rule) -> tuple[bool, str]:
    expected, given = parse_interval(truth), parse_interval(answer)
    if expected is None or given is None:
        return False, "is no range"
    ends = ((expected.low, given.low), (expected.high, given.high))
    if not all(compare_number(e, g.text, rule)[0] for e, g in ends):
        return False, "another range"
    if expected.half_open and given.closed != expected.closed:
        # Which of its ends belongs to it is what such a truth says.
        return False, "the same ends, of which others belong to the range"
    return True, "the same range"


def _compare_items(truth: Value, answer: str, rule: Rule) -> tuple[bool, str]:
    items, keyed, _ = split_items(answer)
    if truth.kind == "vector" and len(items) > len(truth.items) and truth.text[:1] not in "[({":
        # 'a, b and c' has three items.
        truth = replace(truth, items=tuple(("", part) for part in _CONJOINED.split(truth.text) if part))
    if truth.kind == "mapping" and len(items) < len(truth.items):
        items, keyed, _ = split_items(_CONJOINED.sub(", ", plain(answer)))
    if len(items) != len(truth.items):
        spaced, spaced_keyed, _ = split_items(answer, spaced=True)
        if len(spaced) == len(truth.items):
            items, keyed = spaced, spaced_keyed
    if len(items) != len(truth.items) or not keyed:
        items = _as_enumerated(items, answer, len(truth.items))
    if len(items) != len(truth.items):
        return False, f"{len(items)} items, and the truth has {len(truth.items)}"
    expected = [(key, parse_truth(text)) for key, text in truth.items]
    if truth.kind == "mapping":
        given = dict(items)
        if not keyed or len(given) != len(items):
            return False, "the items carry no names, and the truth's do"
        for key, value in expected:
            if key not in given:
                return False, f"no item is named '{key}'"
            matched, reason, _ = compare(value, given[key], rule)
            if not matched:
                return False, f"item '{key}': {reason}"
        return True, "every named item matches"
    answers = [text for _, text in items]
    if truth.unordered or not rule.ordered:
        return _compare_sets([value for _, value in expected], answers, rule)
    for position, ((_, value), text) in enumerate(zip(expected, answers, strict=True), start=1):
        matched, reason, _ = compare(value, text, rule)
        if not matched:
            return False, f"item {position}: {reason}"
    return True, "every item matches"


def _as_enumerated(items: tuple[tuple[str, str], ...], answer: str, wanted: int) -> tuple[tuple[str, str], ...]:
    """Read ``a, b and c``, ``1. a, 2. b`` and, as two ends, ``from 1.2 to 3.4`` and ``95% CI: (1.2, 3.4)``."""
    texts = [text for _, text in items]
    if len(texts) != wanted:
        ends = parse_range(_LABEL_OF_RANGE.sub("", answer, count=1)) if wanted == 2 else None
        if ends is not None:
            return tuple(("", end.text) for end in ends)
        last = texts[-1] if texts else ""
        before, conjunction, after = last.rpartition(" and " if " and " in last else " & ")
        if conjunction and len(texts) == wanted - 1:
            texts = [*texts[:-1], before, after]
    elif wanted > 1 and _AND.match(texts[-1]):
        texts[-1] = _AND.sub("", texts[-1])
    numbered = [_NUMBERED.match(text) for text in texts]
    if len(texts) == wanted > 1 and all(m and m[1] == str(i) for i, m in enumerate(numbered, start=1)):
        texts = [_NUMBERED.sub("", text) for text in texts]
    return items if [text for _, text in items] == texts else tuple(("", text.strip()) for text in texts)


def _compare_sets(expected: list[Value], answers: list[str], rule: Rule) -> tuple[bool, str]:
    left = list(answers)
    for value in expected:
        hit = next((text for text in left if compare(value, text, rule)[0]), None)
        if hit is None:
            return False, f"nothing matches '{value.text}'"
        left.remove(hit)
    return True, "the same items, in any order"
