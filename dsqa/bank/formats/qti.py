"""QTI 2.1 and 1.2 (Canvas exports), as single files or as a zip package: read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from dsqa.bank.findings import Finding
from dsqa.bank.formats import moodle
from dsqa.bank.formats.exercises import Exercise, members, parse_xml, plain_text, source_of
from dsqa.bank.formats.gift import band
from dsqa.bank.rows import Source
from dsqa.errors import BankError
from dsqa.values import parse_number

__all__ = ["read_package", "read_xml"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_xml(path: Path) -> Source:
    """Read an XML file: Moodle's, or QTI's.

    Raises
    ------
    BankError
        It is no XML, or of another kind.
    """
    raw = path.read_bytes()
    root = parse_xml(raw, path)
    if root.tag == "quiz":
        return moodle.read_tree(root, raw, path)
    findings: list[Finding] = []
    exercises = list(_items(root, findings, ""))
    if not exercises and not findings:
        hint = "a quiz is Moodle's <quiz>, or QTI's <assessmentItem> or <questestinterop>"
        raise BankError(f"is XML of another kind: <{str(root.tag)[:60]}>", path=path, hint=hint)
    return source_of(exercises, findings)


def read_package(path: Path) -> Source:
    """Read every item of a package, in the order of its files.

    Raises
    ------
    BankError
        It is no zip archive, or holds no item.
    """
    findings: list[Finding] = []
    exercises: list[Exercise] = []
    for name, raw in members(path, (".xml", ".qti")):
        try:
            root = parse_xml(raw, path)
        except BankError as error:
            findings.append(Finding(None, f"{name}: {error.message}", error.hint or "mend or remove it"))
            continue
        if root.tag == "quiz":
            exercises.extend(moodle.exercises_of(root, [], findings))
        else:
            exercises.extend(_items(root, findings, name))
    if not exercises:
        raise BankError("holds no question", path=path, hint="a QTI package has items as .xml files in it")
    return source_of(exercises, findings)


def _items(root: Element, findings: list[Finding], file: str) -> Iterator[Exercise]:
    kinds = (("assessmentItem", _item_2), ("item", _item_1))
    for tag, reader in kinds:
        for element in root.iter(tag):
            if tag == "item" and element.find("presentation") is None:
                continue  # the manifest's and the test's own lists
            name = element.get("title") or element.get("identifier") or element.get("ident") or ""
            try:
                yield reader(element, Exercise("", 1, name))
            except (ValueError, IndexError) as error:
                where = f" ({file})" if file else ""
                findings.append(Finding(None, f"'{name[:80]}'{where}: {error}", "mend it, or leave it out", line=1))


def _markup(element: Element | None, exercise: Exercise, leave_out: tuple[str, ...] = ()) -> str:
    """Return the text in an element as plain text; blocks end lines, interactions are left out."""
    if element is None:
        return ""
    if element.find(".//img") is not None or element.find(".//object") is not None:
        exercise.lost.add("images and media")
    parts: list[str] = []
    stack: list[tuple[Element, bool]] = [(element, False)]
    while stack:
        one, leaving = stack.pop()
        block = one.tag in {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "prompt", "itemBody", "pre"}
        if leaving:
            parts.append("\n" if block else "")
            parts.append((one.tail or "") if one is not element else "")
            continue
        if one.tag in leave_out:
            parts.append(" _____ " if one.tag in {"textEntryInteraction", "inlineChoiceInteraction"} else "")
            parts.append(one.tail or "")
            continue
        parts.append("\n" if block else "")
        parts.append(f"[{one.get('alt') or 'image'}]" if one.tag == "img" else one.text or "")
        stack.append((one, True))
        stack.extend((child, False) for child in reversed(one))
    lines = [" ".join(line.split()) for line in "".join(parts).split("\n")]
    return "\n".join(line for line in lines if line)


_INTERACTIONS = (
    "choiceInteraction", "textEntryInteraction", "inlineChoiceInteraction", "extendedTextInteraction",
    "matchInteraction", "associateInteraction", "orderInteraction", "uploadInteraction", "hotspotInteraction",
    "gapMatchInteraction", "sliderInteraction", "hottextInteraction", "graphicGapMatchInteraction",
    "rubricBlock", "feedbackBlock", "feedbackInline", "modalFeedback",
)  # fmt: skip


def _item_2(item: Element, exercise: Exercise) -> Exercise:
    body = item.find("itemBody")
    if body is None:
        raise ValueError("has no itemBody")
    found = [e for e in body.iter() if e.tag in _INTERACTIONS[:13]]
    exercise.text = _markup(body, exercise, _INTERACTIONS)
    if item.find(".//modalFeedback") is not None or body.find(".//feedbackInline") is not None:
        exercise.lost.add("feedback to single answers is")
    if not found:
        raise ValueError("has no interaction, so nothing is asked")
    if len(found) > 1:
        raise ValueError(f"has {len(found)} interactions, of which only one is read: make an item of each")
    (interaction,) = found
    prompt = _markup(interaction.find("prompt"), exercise)
    exercise.text = f"{exercise.text}\n{prompt}".strip()
    declared = {d.get("identifier"): d for d in item.iter("responseDeclaration")}
    response = declared.get(interaction.get("responseIdentifier"))
    right = [] if response is None else [(v.text or "").strip() for v in response.findall("correctResponse/value")]
    if interaction.tag == "choiceInteraction":
        choices = list(interaction.iter("simpleChoice"))
        exercise.options = [_markup(c, exercise, ("feedbackInline",)) for c in choices]
        identifiers = [c.get("identifier") for c in choices]
        exercise.right = [i for i, identifier in enumerate(identifiers) if identifier in right]
        exercise.several = response is not None and response.get("cardinality") == "multiple"
    elif interaction.tag == "textEntryInteraction":
        mapped = [] if response is None else list(response.iter("mapEntry"))
        best = max((float(m.get("mappedValue") or 0) for m in mapped), default=0.0)
        full = [m.get("mapKey") or "" for m in mapped if best > 0 and float(m.get("mappedValue") or 0) >= best]
        if len(full) < len(mapped):
            exercise.lost.add("partial credit is")
        values = list(dict.fromkeys([*right, *full]))
        if not values:
            raise ValueError("has no correct response")
        exercise.values = {"answer": values}
        for equal in item.iter("equal"):
            tolerance = (equal.get("tolerance") or "").split()
            if tolerance and parse_number(tolerance[0]) is not None:
                exercise.tolerance = tolerance[0] + ("%" if equal.get("toleranceMode") == "relative" else "")
    elif interaction.tag == "matchInteraction":
        sets = interaction.findall("simpleMatchSet")
        if len(sets) != 2:
            raise ValueError("has no two sets to match")
        stems, targets = ([(c.get("identifier"), _markup(c, exercise)) for c in s] for s in sets)
        _match(
            exercise, dict(stems), dict(targets), [tuple(pair.split()) for pair in right if len(pair.split()) == 2]
        )
    elif interaction.tag != "extendedTextInteraction":
        raise ValueError(f"is a {interaction.tag}, which is not read")
    return exercise


def _match(
    exercise: Exercise, stems: dict[object, str], targets: dict[object, str], pairs: list[tuple[str, ...]]
) -> None:
    exercise.options = list(targets.values())
    order = list(targets)
    if len(order) > len(_LETTERS):
        raise ValueError(f"has more than {len(_LETTERS)} things to match with")
    lines = []
    for i, (identifier, stem) in enumerate(stems.items(), start=1):
        matched = [b for a, b in pairs if a == identifier and b in targets]
        if len(matched) != 1:
            raise ValueError("matches one thing with none or several, which is not read")
        exercise.values[f"match_{i}"] = [_LETTERS[order.index(matched[0])]]
        lines.append(f"{i}. {stem}")
    exercise.text += "\n\n" + "\n".join(lines)


def _mattext(element: Element | None, exercise: Exercise) -> str:
    if element is None:
        return ""
    texts = []
    for text in element.iter("mattext"):
        html = (text.get("texttype") or "text/html").casefold() != "text/plain"
        texts.append(plain_text("".join(text.itertext()), exercise.lost, html=html))
    return "\n".join(t for t in texts if t)


def _item_1(item: Element, exercise: Exercise) -> Exercise:
    fields = {
        "".join(f.find("fieldlabel").itertext()).strip(): "".join(f.find("fieldentry").itertext()).strip()  # type: ignore[union-attr]
        for f in item.iter("qtimetadatafield")
        if f.find("fieldlabel") is not None and f.find("fieldentry") is not None
    }
    presentation = item.find("presentation")
    if presentation is None:
        raise ValueError("has no presentation")
    exercise.text = "\n".join(
        filter(
            None,
            (
                _mattext(m, exercise)
                for m in [*presentation.findall("material"), *presentation.findall("flow/material")]
            ),
        )
    )
    if item.find("itemfeedback") is not None:
        exercise.lost.add("feedback to single answers is")
    lids = [e for e in presentation.iter() if e.tag in {"response_lid", "response_grp"}]
    scored = [c for c in item.iter("respcondition") if _score(c) > 0]
    kind = fields.get("question_type", "")
    if kind in {"essay_question", "file_upload_question"}:
        return exercise
    if len(lids) > 1:
        return _matching_1(exercise, lids, scored)
    if len(lids) == 1:
        labels = list(lids[0].iter("response_label"))
        exercise.options = [_mattext(label, exercise) for label in labels]
        idents = [label.get("ident") for label in labels]
        best = max((_score(c) for c in scored), default=0.0)
        right: set[str] = set()
        for condition in scored:
            if _score(condition) == best or kind == "multiple_answers_question":
                right |= set(_equal(condition))
        exercise.right = [i for i, ident in enumerate(idents) if ident in right]
        exercise.several = (
            kind == "multiple_answers_question" or lids[0].get("rcardinality", "").casefold() == "multiple"
        )
        if [o.casefold() for o in exercise.options] == ["true", "false"] and len(exercise.right) == 1:
            exercise.values = {"answer": [exercise.options[exercise.right[0]].capitalize()]}
            exercise.options, exercise.right = [], []
        return exercise
    if not scored:
        return exercise  # nothing is marked by a program: an essay
    values = list(dict.fromkeys(value for condition in scored for value in _equal(condition)))
    limits = [
        ("".join(low.itertext()).strip(), "".join(high.itertext()).strip())
        for condition in scored
        for low, high in zip(
            [e for e in condition.iter() if e.tag in {"vargte", "vargt"}],
            [e for e in condition.iter() if e.tag in {"varlte", "varlt"}],
            strict=False,
        )
    ]
    if limits:
        middle, half = band(*limits[0])
        values = values or [middle]
        exercise.tolerance = half if parse_number(half) and float(half) > 0 else ""
    if not values:
        raise ValueError("has no right answer that can be read")
    exercise.values = {"answer": values}
    return exercise


def _matching_1(exercise: Exercise, lids: list[Element], scored: list[Element]) -> Exercise:
    targets: dict[object, str] = {}
    for label in lids[0].iter("response_label"):
        targets[label.get("ident")] = _mattext(label, exercise)
    pairs: list[tuple[str, ...]] = []
    for condition in scored:
        for equal in condition.iter("varequal"):
            pairs.append((equal.get("respident") or "", (equal.text or "").strip()))
    _match(exercise, {lid.get("ident"): _mattext(lid.find("material"), exercise) for lid in lids}, targets, pairs)
    return exercise


def _score(condition: Element) -> float:
    score = 0.0
    for setvar in condition.findall("setvar"):
        number = parse_number((setvar.text or "").strip())
        if number is not None and number.finite:
            score = float(number.value)
    return score


def _equal(condition: Element) -> list[str]:
    """Return the values that a condition asks for, those within a ``<not>`` left out."""
    negated = {id(e) for no in condition.iter("not") for e in no.iter("varequal")}
    return [(e.text or "").strip() for e in condition.iter("varequal") if id(e) not in negated]
