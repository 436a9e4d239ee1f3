"""Multiple choice: the options of a question, and which of them an answer chooses.

The options are the question's own (`Question.options`), else those that its text lists. Where the truth is a letter
in brackets and no options are known, as in many imported logs, answers are held against the letter alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dsqa.bank import Question, letters_of, options_in
from dsqa.values import canonical_string, plain

__all__ = ["Choice", "choice_of", "chosen", "last_letter", "stated_choice"]

_LONGEST = 2_000
_REACH = 5_000
_LETTER_TRUTH = re.compile(r"[(\[]([A-Za-z])[)\]]\.?|([A-Z])\)")
_MARK = r"(?:[(\[{{]\s?({letters})\s?[)\]}}]|({letters})(?=[)\].:,;]|\s?[—–-]\s|\s*$|[*_]))"
_LEAD = (
    r"(?:(?:the|my|our)\s+)?(?:(?:correct|right|best|final)\s+)?"
    r"(?:options?|choices?|answers?|letters?|alternative|is|are|both|und)\b[\s:#*_]*"
)
_BEFORE = re.compile(r"^[\s*_\"'`>#-]*")
_AFTER = re.compile(r"^[\s)\].:,;*_—–-]*")
_AND = re.compile(r"^[\s,;&+/]*(?:and\b|und\b|et\b|y\b)?\s*", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|n['’]t|neither|nor|wrong|incorrect|false|eliminat\w*|rul(?:e|ed|ing)\s+out|except|cannot|unlikely|either|or"
    r"|whether|versus|vs|between|unlike|rather\s+than|instead\s+of|exclud\w*|mistakes?|mistaken|errors?|fail(?:s|ed)?|reject\w*"
    r"|discard\w*|dismiss\w*|invalid|untrue|unsuitable|inappropriate|misleading|inferior)\b|n['’]t\b",
    re.IGNORECASE,
)
# '(B) is incorrect', '(B) can be ruled out', '(B) fails': a sentence about an option, which does not choose it.
_ABOUT = re.compile(
    r"^(?:is|are|was|were|would|can|could|should|must|may|might|cannot|fails?|failed|does|do|did)\b", re.IGNORECASE
)
_LETTER_FOLLOWED = re.compile(r"^\s+(?:because|since|as|which|so|for|with|is|due|given|here)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """The options that a part is chosen from, and the right ones.

    Parameters
    ----------
    options
        ``(letter, text)`` in order; texts are "" where only the letters are known.
    letters
        The letters that are right: all of them, in any order.
    """

    options: tuple[tuple[str, str], ...]
    letters: tuple[str, ...]

    @property
    def known(self) -> bool:
        """Whether the options' texts are known."""
        return any(text for _, text in self.options)


def choice_of(question: Question, name: str) -> Choice | None:
    """Return the choice that a part is, or None."""
    truth = question.answers[name].strip()
    options = question.options or (options_in(question.question) if len(question.answers) == 1 else {})
    if options:
        letters = letters_of(plain(truth), options)
        return None if letters is None else Choice(tuple(options.items()), letters)
    bare = _LETTER_TRUTH.fullmatch(plain(truth))
    if bare is None:
        return None
    letter = (bare[1] or bare[2]).upper()
    return Choice(tuple((chr(c), "") for c in range(ord("A"), max(ord("J"), ord(letter)) + 1)), (letter,))


def chosen(answer: str, choice: Choice) -> tuple[str, ...] | None:
    """Return the letters of the options that an answer as a whole chooses, or None where that is not clear."""
    bare = plain(answer)
    if not bare or len(bare) > _LONGEST:
        return None
    options = dict(choice.options)
    found = letters_of(bare, options) if choice.known else None
    if found is None:
        canonical = canonical_string(bare)
        same = [letter for letter, text in choice.options if text and canonical_string(text) == canonical]
        found = (same[0],) if len(same) == 1 else _leading(bare, choice)
        found = _mentioned(bare, choice) if found is None else found
    return found or None


def _leading(text: str, choice: Choice) -> tuple[str, ...] | None:
    """Read ``B) two``, ``(B) two.``, ``Option B``, ``A and C`` at the beginning of a text; () for a contradiction."""
    pattern = _patterns(choice)
    rest = _BEFORE.sub("", text)
    lead = re.match(_LEAD, rest, re.IGNORECASE)
    if lead:
        rest = _BEFORE.sub("", rest[lead.end() :])
    letters: list[str] = []
    while len(letters) < len(choice.options):
        match = pattern.match(rest)
        alone = re.match(r"([A-Z])(?=\s|$)", rest)
        if (
            match is None
            and alone
            and alone[1] in dict(choice.options)
            and (lead or _LETTER_FOLLOWED.match(rest[1:]) or re.match(r"^\s+(?:and|&|,)\s", rest[1:]) or letters)
        ):
            match = alone
        if match is None:
            break
        letters.append(_as_listed(next(group for group in match.groups() if group), choice))
        rest = (
            _AFTER.sub("", rest[match.end() :])
            if not re.match(r"\s*[,&]", rest[match.end() :])
            else rest[match.end() :]
        )
        joined = _AND.match(rest)
        following = rest[joined.end() :] if joined else rest
        if following == rest or not (pattern.match(following) or re.match(r"[A-Z](?=[\s.)]|$)", following)):
            break
        rest = following
    if not letters or len(set(letters)) < len(letters):
        return None
    if len(letters) == 1 and re.search(r"[(\[](?!" + letters[0] + r"\b)[A-Za-z][)\]]", rest, re.IGNORECASE):
        return None  # '(A) shows one number. Therefore (B)': which is chosen is for the reader of sentences
    if _ABOUT.match(rest) and _DENIED.search(rest):
        return None
    if len(letters) == 1 and rest.strip():
        # 'B) two': a text that is another option's contradicts the letter.
        said = canonical_string(_BEFORE.sub("", rest))
        other = [letter for letter, option in choice.options if option and canonical_string(option) == said]
        if other and other[0] != letters[0]:
            return ()
    return tuple(letter for letter, _ in choice.options if letter in letters)


def _mentioned(text: str, choice: Choice) -> tuple[str, ...] | None:
    """Return the option whose text stands in the answer, where it is the only one and nothing is denied."""
    if not choice.known or _DENIED.search(text) or len(text) > 300:
        return None
    canonical = canonical_string(text)
    held = [
        (letter, canonical_string(option))
        for letter, option in choice.options
        if len(canonical_string(option)) > 2
        and re.search(rf"(?<!\w){re.escape(canonical_string(option))}(?!\w)", canonical)
    ]
    # 'a linear model' stands in 'a generalised linear model': the longest that holds the others.
    longest = max(held, key=lambda pair: len(pair[1]), default=None)
    if longest is None or any(option not in longest[1] for _, option in held):
        return None
    return (longest[0],)


def _as_listed(letter: str, choice: Choice) -> str:
    return next(listed for listed, _ in choice.options if listed.casefold() == letter.casefold())


_KNOWN: dict[str, re.Pattern[str]] = {}


def _patterns(choice: Choice) -> re.Pattern[str]:
    letters = "".join(letter for letter, _ in choice.options)
    if letters not in _KNOWN:
        if len(_KNOWN) > 200:
            _KNOWN.clear()
        one = "|".join(f"[{c.upper()}{c.lower()}]" if c.isalpha() else re.escape(c) for c, _ in choice.options)
        _KNOWN[letters] = re.compile(_MARK.format(letters=one))
    return _KNOWN[letters]


def stated_choice(rest: str, choice: Choice) -> str | None:
    """Return the beginning of a statement's value that chooses, as in ``(B) two, because …``, or None."""
    line = rest.split("\n", 1)[0][:300].strip()
    sentence = re.split(r"[.!?]\s", line, maxsplit=1)[0]
    for candidate in dict.fromkeys(
        (sentence, re.split(r",?\s(?:because|since|as|which)\b|\s[—–]\s", sentence)[0], line)
    ):
        if candidate and chosen(candidate, choice) is not None:
            return candidate.strip()
    return None


def last_letter(text: str, choice: Choice) -> list[tuple[int, str]]:
    """Return the last ``(X)`` of a text where its sentence names no other option and denies nothing."""
    tail = text[-_REACH:]
    letters = "|".join(re.escape(letter) for letter, _ in choice.options)
    hits = list(re.finditer(rf"(?<![\w])[(\[]\s?({letters})\s?[)\]]", tail, re.IGNORECASE))
    if not hits:
        return []
    last = hits[-1]
    start = max((m.end() for m in re.finditer(r"[.!?]\s|\n", tail[: last.start()])), default=0)
    end = re.search(r"[.!?](?:\s|$)|\n", tail[last.end() :])
    sentence = tail[start : last.end() + (end.start() if end else len(tail))]
    named = {hit[1].casefold() for hit in hits if start <= hit.start()}
    if len(named) > 1 or _DENIED.search(sentence):
        return []
    return [(len(text) - len(tail) + last.start(), last[0])]
