"""Every format gives a bank back as it was."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dsqa.bank import Question, load_bank
from dsqa.bank.checks import check_names, check_text
from dsqa.bank.convert import write_bank
from dsqa.bank.fields import check_rounding

SUFFIXES = (".jsonl", ".json", ".yaml", ".csv", ".tsv", ".xlsx", ".md", ".qmd")

NASTY = [
    "a, b; c | d\te",
    'say "yes"',
    "line\nbreak",
    "line\r\nbreak",
    "carriage\rreturn",
    "# heading\n\ntext",
    "```python\nx = 1\n```",
    "~~~\nopen",
    "- **Answer:** 5",
    "**bold** _it_ $x_1$ \\frac{1}{2}",
    "@a[1]",
    "@a[[1]",
    "]",
    "[",
    "[1, 2]",
    '[["a", "1"]]',
    '{"a": 1}',
    "=1+1",
    "#N/A",
    "007",
    "1.50",
    "yes",
    "null",
    "~",
    "NaN",
    "True",
    "2020-01-01",
    "20%",
    "3,14",
    " lead",
    "trail ",
    "\tTab",
    "über – “quoted” … 日本語 🎲",
    "_x0041_",
    "a\x0bb",
    "---",
    "%",
    "Answer: 5\nData: x.csv",
    "Answer\n: 5",
    "### Answer\n\n5",
    "a: b",
    "a = 1; b = 2",
    "'",
    "\\",
    "&amp; <b>",
    "\u2028",
    "sep=;",
    "x" * 300,
    "- item\n- item",
    "    indented",
    "a\n\n\n\nb",
    "{#id}",
    "title {#x}",
    "\x85",
    "\ufeff",
]  # fmt: skip
_CHARS = st.characters(exclude_categories=["Cs"])
TEXT = st.one_of(st.sampled_from(NASTY), st.text(_CHARS, min_size=1, max_size=20)).filter(lambda t: t.strip() != "")
NAME = st.text(st.sampled_from("abcdefghij_é.1"), min_size=1, max_size=6)
VALUE = st.one_of(TEXT, st.just(""), st.decimals(-1000, 1000, places=2).map(str))


@st.composite
def questions(draw: st.DrawFn, number: int) -> Question:
    names = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    fields: dict = {
        "id": f"{draw(TEXT)}{number}",
        "question": draw(TEXT),
        "format": draw(TEXT) + " " + " ".join(f"@{n}[value]" for n in names),
        "level": draw(st.sampled_from(["easy", "medium", "hard"])),
        "common_answers": [(n, draw(VALUE)) for n in names],
        "concepts": draw(st.lists(TEXT, max_size=2)),
    }
    optional = {
        "file_name": st.sampled_from(["a.csv", "sub/b c.csv", "größe.csv", "a|b.csv", "a,b;c.csv"]),
        "category": TEXT,
        "constraints": TEXT,
        "options": st.one_of(
            st.lists(TEXT.map(str.strip), min_size=2, max_size=4),
            st.dictionaries(st.sampled_from("badcxy12"), TEXT.map(str.strip), min_size=2, max_size=4),
        ),
        "accepted": st.fixed_dictionaries({names[0]: st.lists(VALUE, max_size=2)}),
        "tolerance": st.one_of(
            st.sampled_from(["0.01", "1%"]), st.fixed_dictionaries({n: st.just("0.5") for n in names})
        ),
        "rounding": st.integers(0, 9).map(str).map(check_rounding),
        "unit": st.sampled_from(["percent", "proportion"]),
        "ordered": st.booleans(),
        "decimal_comma": st.booleans(),
        "n": st.integers(1, 10**6),
        "traps": st.dictionaries(TEXT, st.fixed_dictionaries(dict.fromkeys(names, VALUE)), max_size=2),
        "reference_text": TEXT,
        "reference_code": TEXT,
        "reference_plot": TEXT,
        "criteria": st.lists(TEXT, max_size=2),
        "notes": TEXT,
        "author": TEXT,
        "points": st.one_of(st.integers(), st.booleans(), st.none(), st.lists(st.integers(), max_size=2)),
        "title": TEXT,
    }
    for name in draw(st.sets(st.sampled_from(sorted(optional)), max_size=5)):
        fields[name] = draw(optional[name])
    if fields.get("options") and len(names) == 1:
        fields["common_answers"] = [
            (names[0], "A" if isinstance(fields["options"], list) else min(fields["options"]))
        ]
    if draw(st.booleans()):
        unmarked = draw(st.lists(NAME.map(lambda n: f"not_{n}"), min_size=1, max_size=2, unique=True))
        fields["unmarked"] = unmarked
        fields["format"] += "".join(f" @{n}[x]" for n in unmarked)
    question = Question.model_validate(fields)
    assume(not list(check_text(question)) and not list(check_names(question)))
    return question


BANKS = (
    st.integers(1, 3)
    .flatmap(lambda n: st.tuples(*(questions(i) for i in range(n))))
    .filter(lambda bank: len({q.id for q in bank}) == len(bank))
)


# Making a bank takes longer than writing it: each goes through every format.
@given(bank=BANKS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_bank_comes_back_equal(bank: tuple[Question, ...], tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("trip")
    for suffix in SUFFIXES:
        path = folder / f"bank{suffix}"
        write_bank(path, bank)
        back = load_bank(path, check_data=False)
        assert [q.to_dict() for q in back] == [q.to_dict() for q in bank], suffix
