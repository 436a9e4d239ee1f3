"""What a question says about its own answers: names, placeholders, units, whether order matters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from dsqa.bank import Question, format_names
from dsqa.metrics.answers.asked import Unit, decimals_in, unit_in
from dsqa.metrics.answers.choices import Choice, choice_of
from dsqa.values import canonical_string, parse_boolean, parse_number, plain

__all__ = ["Rule", "about", "is_placeholder", "memo_of", "name_of", "pattern_for", "rule_of", "unit_of"]

_PLACEHOLDER = re.compile(r"[@＠]\s{0,3}([^\n@\[\]]{1,80}?)\s{0,3}\[([^\[\]\n]{0,200})\]")
_GENERIC = frozenset(
    {
        "value",
        "answer",
        "your answer",
        "the answer",
        "your value",
        "result",
        "...",
        "…",
        "?",
        "answer here",
        "your answer here",
        "integer",
        "an integer",
        "number",
        "a number",
        "float",
        "string",
        "percentage",
        "insert value",
        "value here",
    }
)
# '{mean:.2f}', '%.2f', '" + str(x) + "', '<your value>', '____': a template that nobody filled in.
_TEMPLATE = re.compile(
    r"\{[^{},\"']*[A-Za-z(\[][^{},]*\}|\{\}"
    r"|%[-+ 0]?\d*(?:\.\d+)?[dfsgei]"
    r"|[\"']\s*[+,].*[+,]\s*[\"']"
    r"|<[^<>]*[A-Za-z][^<>]*>"
    r"|[Xx#]{2,}|[Xx#]+[.,:][Xx#]+|[Yy]{4}-[Mm]{2}-[Dd]{2}"
    r"|[_.\-\s]{2,}"
)
_ANY_ORDER = re.compile(
    r"\b(?:in any order|order does not matter|order is irrelevant|unordered|as a set)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+")
_ALTERNATIVES = re.compile(r"\bor\b|\bnot\b|n['’]t\b", re.IGNORECASE)
_CLAUSE = re.compile(r"""\n|(?<=[.;])\s|(?:,|,?\s+and)\s+(?=["'“])""")


@dataclass(frozen=True)
class Rule:
    """How a part's answer is held against its truth.

    Parameters
    ----------
    unit
        See `unit_of`.
    tolerance, rounding
        As the question has them.
    ordered
        Whether a vector's order counts: yes, unless the field ``ordered`` or the wording says otherwise.
    decimal_comma
        Whether commas in numbers are decimal commas.
    decimals
        How many decimals the question asks for, where it says so.
    choice
        The options that the answer is chosen from, where it is.
    accepted
        Other values that are right too.
    asked
        For a yes/no question its words, case-folded: "not significant" answers "Is it significant?". Empty where
        the question has a negation or an "or" in it, so that a word of it may mean either.
    """

    unit: Unit = None
    tolerance: str | None = None
    rounding: str | None = None
    ordered: bool = True
    decimal_comma: bool = False
    decimals: int | None = None
    choice: Choice | None = None
    accepted: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Facts:
    names: tuple[str, ...]
    pattern: re.Pattern[str]
    by_exact: dict[str, str]
    by_folded: dict[str, str]
    placeholders: dict[str, frozenset[str]]
    units: dict[str, Unit]
    said: dict[str, str]
    rules: dict[str, Rule]
    memo: dict[tuple[str, ...], Any]


def pattern_for(question: Question) -> re.Pattern[str]:
    """Return the pattern of ``@name[`` for the names the question's ground truth has."""
    return _facts(question).pattern


def name_of(question: Question, written: str) -> str | None:
    """Return the name meant by what was written: exactly, else up to case; None where that is ambiguous."""
    facts = _facts(question)
    bare = " ".join(written.replace("\\", "").split())
    return facts.by_exact.get(bare) or facts.by_folded.get(bare.casefold())


def unit_of(question: Question, name: str) -> Unit:
    """Return whether a part is asked for in per cent or as a proportion, or None where nothing says so.

    In this order: the question's field ``unit``; the part's name and the sentences of the format that speak
    of it (all of the format, and the question's text, for a one-part question): "percent", "%", "between 0 and
    100" against "proportion", "probability", "between 0 and 1". A per cent sign after some number, "at the 5% level",
    says nothing. Both or neither mean None. Where the ground truth
    has no per cent sign and this is not "percent", an answer of 20% is the number 0.2; where this is None and the
    ground truth is above 1 in size, an answer in per cent does not match.
    """
    return _facts(question).units.get(name)


def rule_of(question: Question, name: str) -> Rule:
    """Return how a part's answer is held against its truth."""
    return _facts(question).rules[name]


def memo_of(question: Question) -> dict[tuple[str, ...], Any]:
    """Return a dict that lives as long as the question's facts do, for what is worked out once per question."""
    return _facts(question).memo


def about(question: Question, name: str) -> str:
    """Return what the format says of a part: all of it for a one-part question, else the clauses that name it."""
    facts = _facts(question)
    return _clauses(question.format, name, facts.said[name])


def _clauses(form: str, name: str, said: str) -> str:
    names = format_names(form)
    if len(names) <= 1:
        return form
    own = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    quoted = f'"{said}"' if said else "\0"
    chosen = []
    for clause in _CLAUSE.split(form):
        asked = sum(f"@{other}" in clause for other in names)
        # Where several are asked for at once, only what is said besides, by name, is about this one.
        rest = _PLACEHOLDER.sub(" ", clause) if asked > 1 else clause
        if own.search(rest) or quoted in rest.replace("_", " ").casefold():
            chosen.append(rest)
    return "\n".join(chosen)


def is_placeholder(question: Question, name: str, value: str) -> bool:
    """Return whether a value only repeats the format, or is blank: then nothing was answered."""
    bare = plain(value)
    if bare[:1].isdigit() and bare.replace(".", "", 1).isdigit():
        return False  # the usual case
    canonical = canonical_string(bare)
    if canonical == canonical_string(question.answers[name]):
        return False  # the format may well use the true word as its placeholder
    if not bare or bare in {"[]", "()", "{}"}:
        return bool(plain(question.answers[name]))
    if canonical in _facts(question).placeholders[name] or canonical in _GENERIC:
        return True
    return bool(_TEMPLATE.fullmatch(bare) or _TEMPLATE.fullmatch(value.strip()))


_RECENT: dict[int, tuple[Question, _Facts]] = {}


def _facts(question: Question) -> _Facts:
    # By identity: a study asks few questions often, and hashing one costs more than reading an answer. The
    # question is kept beside its facts, so its id cannot come to mean another.
    known = _RECENT.get(id(question))
    if known is not None:
        return known[1]
    facts = _gather(question)
    if len(_RECENT) >= 4096:
        _RECENT.clear()
    _RECENT[id(question)] = (question, facts)
    return facts


def _gather(question: Question) -> _Facts:
    names, form, text, ordered = tuple(question.answers), question.format, question.asked, question.ordered

    def written(name: str) -> str:
        return r"\s{1,3}".join(re.escape(word).replace("_", r"\\?_") for word in name.split()) or re.escape(name)

    longest_first = "|".join(written(n) for n in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"[@＠]\s{{0,3}}[*`\"']{{0,3}}({longest_first})[*`\"'\s]{{0,6}}\\?\[", re.IGNORECASE)
    folded: dict[str, str] = {}
    for name in names:
        key = " ".join(name.split()).casefold()
        folded[key] = "" if key in folded else name
    placeholders: dict[str, set[str]] = {n: {canonical_string(n), canonical_string(f"{n} value")} for n in names}
    said: dict[str, str] = dict.fromkeys(names, "")
    for found in _PLACEHOLDER.finditer(form):
        name = folded.get(" ".join(found[1].split()).casefold(), "")
        if name and parse_number(found[2]) is None:
            placeholders[name].add(canonical_string(found[2]))
            said[name] = said[name] or canonical_string(found[2])
    units = {n: _unit(question, n, said[n], names) for n in names}
    return _Facts(
        names=names,
        pattern=pattern,
        by_exact={" ".join(n.split()): n for n in names},
        by_folded={key: name for key, name in folded.items() if name},
        placeholders={n: frozenset(p) for n, p in placeholders.items()},
        units=units,
        said=said,
        memo={},
        rules={
            n: Rule(
                unit=units[n],
                tolerance=question.setting("tolerance", n),
                rounding=question.setting("rounding", n),
                ordered=ordered if ordered is not None else not (_ANY_ORDER.search(form) or _ANY_ORDER.search(text)),
                decimal_comma=bool(question.decimal_comma),
                decimals=_decimals(question, n, said[n], names),
                choice=choice_of(question, n),
                accepted=tuple(question.accepted.get(n, ())),
                asked=_words_asked(question, n),
            )
            for n in names
        },
    )


def _unit(question: Question, name: str, said: str, names: tuple[str, ...]) -> Unit:
    given, form, text = question.setting("unit", name), question.format, question.asked
    if given is not None:
        return "percent" if given == "percent" else "proportion"
    spaced = name.replace("_", " ")
    told = f"{spaced}\n{_clauses(form, name, said)}" + (f"\n{text}" if len(names) == 1 else "")
    return unit_in(told, form, one_part=len(names) == 1)


def _decimals(question: Question, name: str, said: str, names: tuple[str, ...]) -> int | None:
    own = _clauses(question.format, name, said)
    further = [question.format, question.question, question.constraints or ""] if len(names) == 1 else []
    return decimals_in(own, *further)


def _words_asked(question: Question, name: str) -> frozenset[str]:
    if parse_boolean(question.answers[name]) is None or len(question.answers) > 1:
        return frozenset()
    text = question.question.casefold()
    return frozenset() if _ALTERNATIVES.search(text) else frozenset(_WORD.findall(text))
