r"""The few ways, besides ``@name[value]``, in which a one-part answer may be stated outright."""

from __future__ import annotations

import re

from dsqa.metrics.answers.choices import Choice, chosen, stated_choice
from dsqa.values import (
    canonical_string,
    closing_positions,
    parse_boolean,
    parse_interval,
    parse_moment,
    parse_nothing,
    parse_number,
    parse_range,
    parse_truth,
    plain,
    split_items,
)

__all__ = ["boxed", "has_form", "only_value", "stated"]

_REACH = 300
_LAST = 100
_WORDS_OF_A_TEXT = 5
_BOXED = re.compile(r"\\[f]?box(?:ed)?\s{0,2}\{")
_STATED = re.compile(
    r"""
    (?:^|(?<=[\s*_>#("]))                      # a word of its own
    (?:(?:the|my|our|die|la|das|il)\s+)?
    (?:(?:final|correct|right|overall|endgültige|richtige)\s+)?
    (?P<word>answer|(?<=final\s)(?:result|value|choice)|(?<=correct\s)(?:option|choice|letter)
        |antwort|r[ée]ponse|respuesta|risposta|resposta|答案|答え)
    (?:\s+(?:to\s+the\s+question|\([^()\n]{1,40}\)|finale|final))?
    [*_]{0,3}
    (?:\s+(?:is|would\s+be|should\s+be|must\s+be|equals|(?:comes|works|turns)\s+(?:out\s+)?to(?:\s+be)?|ist|est|es|è|é)(?![\w])
            (?:,?\s+(?:therefore|thus|hence|indeed|clearly|still|now|also|then)\b,?)?\s*:?|\s*(?::|=|→|⇒|->|=>|\s[–—-]\s|是|：))
    [*_\s]{0,6}
    (?=(?P<value>[^\n]{1,300}))               # not consumed: a second statement may stand in the same line
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Where a sentence may go on after the value: 'The answer is 32, because …'.
_GOES_ON = re.compile(
    r"[,;.!](?=\s)|\s(?=\()|\s(?=(?:because|since|as|which|so|for)\s)|\s(?=[–—]\s)"
    r"|\s(?=(?:rather\s+than|instead\s+of)\s)"
)
# In a text a comma or 'with' may belong to the value; these do not.
_TEXT_GOES_ON = re.compile(
    r",?\s(?=(?:because|since|as|which)\b|\()|[.!](?=\s)|,\s(?=(?:not|with|followed|where|having)\b)", re.IGNORECASE
)
_CONDITION = re.compile(
    r"\b(?:(?:if|whether|suppose|assuming|unless|until|imagine|hope)\s+(?:that\s+)?"
    r"|(?:wrong|incorrect|false|naive|expected|possible|example|sample|initial|previous|first)\s+"
    r"|(?:(?:can|could|would|might|may)\s?not\s+be|can['’]t\s+be|is(?:\s+not|n['’]t))\s+)$",
    re.IGNORECASE,
)
# Somebody else's words, or a thought given up; one's own 'I think (that)' states.
_SAID = re.compile(
    r"([\w'’]+)\s+(?:(?:really|also|still|now|therefore|thus|hence|would|can|will|do|firmly|strongly|then|must|to|have)\s+){0,3}"
    r"(says?|said|claims?|claimed|thinks?|thought|believes?|believed|suggests?|suggested|argues?|argued|writes?|wrote"
    r"|guess(?:es|ed)?|reckons?|insists?|states?|stated|assumes?|assumed|conclude[sd]?|find|found|say|estimate)\s+(?:that\s+)?$",
    re.IGNORECASE,
)
_OWN = frozenset({"i", "we", "therefore", "thus", "hence", "so", "i'd", "i’d", "we'd", "can", "and"})
_GIVEN_UP = frozenset({"thought", "believed", "claimed", "assumed", "suggested", "guessed"})
# 'It is not true that', 'I doubt that', 'I am not sure', 'nobody can say that'.
_DENIED = re.compile(
    r"(?:(?:\b(?:not|never|no|far\s+from|no\s+longer|hardly|nobody|cannot|neither|nor)\b|n['’]t\b)(?:\s+[\w'’]+){0,4}\s+"
    r"(?:true|right|correct|case|possible|likely|clear|sure|certain|think|thinks|believe|say|mean|accept|agree|conclude"
    r"|claim|follow|follows|hold|convinced|confident|know|suggest|imply|implies|show|shows|evident|obvious|state|assume)"
    r"|\b(?:no|little|scant|insufficient|weak|any|without)\s+(?:\w+\s+)?(?:evidence|proof|guarantee|indication|sign|support"
    r"|basis|reason|chance|way)(?:\s+(?:to\s+\w+|at\s+all))?"
    r"|\b(?:nothing|nowhere|nobody|none)\b(?:\s+[\w'’]+){0,5}"
    r"|\b(?:idea|claim|notion|belief|suggestion|hypothesis|possibility|rumou?r|debatable|arguable|disputed|contested|told"
    r"|answered|replied|responded|reported)"
    r"|\b(?:doubt|doubts|doubted|deny|denies|disagree|refuse|reject|rejects|unlikely|untrue|false|wrong|incorrect|impossible"
    r"|improbable|implausible|mistake|myth|unclear|unsure|uncertain|contrary|error|fallacy|nonsense|lie|pretend|wonder"
    r"|mistaken|erroneous|misleading|absurd|doubtful|questionable)\b(?:\s+(?:to\s+\w+|the\s+\w+|idea|claim|if|whether|is|was|it)){0,3})"
    r"\s+(?:that\s+)?$",
    re.IGNORECASE,
)
# 'There is no doubt that': denied doubt states.
_SURE = re.compile(
    r"\b(?:no|without|beyond|never|not)\s+(?:(?:a|any|\w+)\s+)?doubt\w*,?\s+(?:(?:but\s+)?that\s+)?$", re.IGNORECASE
)
_TAKEN_BACK = re.compile(
    r"^[^\n]{0,80}?(?:\s(?:is|would\s+be|was)\s+(?:wrong|incorrect|false|not\s+(?:right|correct|true))|\s\((?:wrong|incorrect|false)\))",
    re.IGNORECASE,
)
# '### Final answer' and '**Answer**', the value on the next line.
_HEADED = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*[*_]{0,3}|[*_]{2,3})(?:(?:the|my|our)[ \t]+)?(?:(?:final|correct)[ \t]+)?"
    r"(?:answer|(?<=final )result)[:.]?[*_]{0,3}[:.]?[ \t]*\n\s{0,10}(?P<value>[^\n]{1,300})"
    r"|<(?:final_?)?answer>\s{0,10}(?P<tagged>[^\n<]{1,300}?)\s{0,10}</(?:final_?)?answer>"
    r"|^\#{4}[ \t]+(?P<marked>[^\n]{1,100})$",
    re.IGNORECASE | re.MULTILINE,
)
_FORMAT = re.compile(r"[@＠]\s{0,3}[^\s\[]+\s{0,3}\[")
_NO_VALUE = re.compile(r"[?:]$|\.{3}$|…$")
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}")
_CONJUNCTION = re.compile(r"\s(?:and|und|et|y|&)\s", re.IGNORECASE)


def boxed(text: str, truth: str, choice: Choice | None = None) -> list[tuple[int, str]]:
    r"""Return ``(position, value)`` of the last hundred ``\boxed{value}`` whose value has the truth's form."""
    hits = list(_BOXED.finditer(text))[-_LAST:]
    closing = closing_positions(text, {hit.end() - 1 for hit in hits}, ("{", "}"))
    values = [
        (hit.start(), text[hit.end() : closing[hit.end() - 1]].strip()) for hit in hits if hit.end() - 1 in closing
    ]
    return [(position, value) for position, value in values if has_form(value, truth, choice)]


def stated(text: str, truth: str, choice: Choice | None = None) -> list[tuple[int, str]]:
    """Return ``(position, value)`` of every statement of the answer (of the last hundred, if there are more).

    They are "The answer is X", "The final (correct, right) answer is X", "My answer is X", "Answer: X", "Final
    answer: X", X under a heading "Answer", ``<answer>X</answer>``, ``#### X``; not after "if", "she says", "it is not
    true that". X ends with the line or, before that, where the sentence does; it must then be a value of the truth's
    form as a whole, so that "The answer is not 32", "… is between 30 and 40" state nothing.
    """
    values = []
    for hit in list(_STATED.finditer(text))[-_LAST:]:
        if _is_withdrawn(text, hit.start()) or _TAKEN_BACK.search(hit["value"]):
            continue
        value = _value_at_start(hit["value"], truth, choice)
        if value is not None:
            values.append((hit.start("value"), value))
    for hit in list(_HEADED.finditer(text))[-_LAST:]:
        group = next(name for name in ("value", "tagged", "marked") if hit[name])
        value = _value_at_start(hit[group], truth, choice)
        if value is not None:
            values.append((hit.start(group), value))
    return sorted(dict.fromkeys(values))


def _is_withdrawn(text: str, position: int) -> bool:
    """Whether what stands before a statement makes it none: a condition, a doubt, somebody else's words."""
    before = text[max(0, position - 160) : position]
    sentence = re.split(r"[.!?;:]\s|\n", before)[-1]
    if _CONDITION.search(sentence) or (_DENIED.search(sentence) and not _SURE.search(sentence)):
        return True
    said = _SAID.search(sentence)
    return said is not None and (said[1].casefold() not in _OWN or said[2].casefold() in _GIVEN_UP)


def only_value(text: str, truth: str, choice: Choice | None = None) -> list[tuple[int, str]]:
    """Return the text as ``(0, value)`` if it is one line, and that a value of the truth's form, without a label."""
    bare = text.strip()
    if not bare or "\n" in bare or len(bare) > _REACH or not has_form(bare, truth, choice):
        return []
    if choice is not None and choice.known and chosen(bare, choice) is None and parse_number(bare) is None:
        return []
    number = parse_number(bare)
    return [] if number is not None and number.label else [(0, bare)]


def _value_at_start(rest: str, truth: str, choice: Choice | None) -> str | None:
    rest = rest.strip()
    if choice is not None:
        found = stated_choice(rest, choice)
        if found is not None or choice.known:
            return found
    text = parse_truth(truth).kind == "string" and canonical_string(truth) != canonical_string(rest)
    first = [rest[: cut.start()] for cut in _TEXT_GOES_ON.finditer(rest)] if text else []
    candidates = [*first, rest, *(rest[: cut.start()] for cut in _GOES_ON.finditer(rest))]
    # '73** cars': the label before it took the beginning of the emphasis.
    unmarked = [_EMPHASIS.sub("", candidate) for candidate in candidates[:12] if _EMPHASIS.search(candidate)]
    for candidate in [*candidates[:12], *unmarked]:
        value = _unpaired_off(_unpaired_off(candidate.strip()).rstrip(".!").rstrip())
        if value and has_form(value, truth, choice):
            return value
    return None


def _unpaired_off(value: str) -> str:
    """Take off the end of emphasis that began before the value: ``**The answer is 32.**``."""
    bare = value.rstrip("*_`")
    # '**73** cars' and '2 ** 3' keep theirs.
    return value if value[:1] in "*_`" or value.count("*") > len(value) - len(bare) > 0 else bare.rstrip()


def has_form(value: str, truth: str, choice: Choice | None = None) -> bool:
    """Whether a value is of the kind the truth is; a text must be of a few words, and no number."""
    bare = plain(value)
    if not bare or len(bare) > _REACH:
        return False
    if choice is not None and (stated_choice(value, choice) is not None or any(c in value for c in "({")):
        return stated_choice(value, choice) is not None
    expected = parse_truth(truth)
    if expected.kind == "number":
        return _is_number(bare)
    if expected.kind == "boolean":
        return parse_boolean(bare) is not None
    if expected.kind == "moment":
        return parse_moment(bare) is not None
    if expected.kind == "range":
        return parse_range(bare) is not None or parse_interval(bare) is not None
    if expected.kind in {"vector", "mapping"}:
        items, keyed, _ = split_items(_CONJUNCTION.sub(", ", bare) if expected.kind == "mapping" else bare)
        listed = len(items) > 1 or bare[0] in "[({" or (len(bare) < 80 and bool(_CONJUNCTION.search(bare)))
        return listed and keyed == (expected.kind == "mapping")
    if expected.kind in {"blank", "nothing"}:
        return bare in {"[]", "()", "{}", "set()"} or parse_nothing(bare) is not None
    if canonical_string(bare) == canonical_string(truth):
        return True
    words = bare.split()
    if _FORMAT.search(bare):
        return False
    return len(words) <= _WORDS_OF_A_TEXT and parse_number(bare) is None and not _NO_VALUE.search(bare)


def _is_number(bare: str) -> bool:
    for _ in range(8):
        if parse_number(bare) is not None:
            return True
        items, keyed, _ = split_items(bare) if bare[:1] and bare[0] in "[(" else ((), False, False)
        if len(items) != 1 or keyed or items[0][1] == bare:
            return False
        bare = items[0][1]
    return False
