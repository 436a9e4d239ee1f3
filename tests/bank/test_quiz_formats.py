"""GIFT, Aiken, Moodle XML, QTI, R/exams and Word: each read, the first three written and read back."""

from __future__ import annotations

import io
import time
import zipfile
from pathlib import Path

import pytest

from dsqa.bank import Bank, load_bank
from dsqa.bank.convert import convert_bank
from dsqa.bank.load import examine_bank
from dsqa.errors import BankError

GIFT = r"""// made by hand
$CATEGORY: $course$/Statistics/Summaries

::mean robust::[html]<p>Which is <b>robust</b>?</p> {
=the median#Yes
~the mean#No
~the range
}

::both::Which are measures of spread? {
~%50%variance ~%50%range ~%-100%mode ~%0%mean }

::pi::What is pi? {#3.14:0.01}

::between::A number between 1 and 5 {#1..5}

::town::The mean \= sum over {=n =N =the count}.

::tf::The median minimises the squared error. {FALSE}

::why::Why divide by n \- 1? {}

::match::Match each letter {
 =mu -> mean
 =sigma -> standard deviation
 -> }

A text without a question.
"""

AIKEN = """Which is robust?
A. the mean
B) the median
C. the range
ANSWER: B

Which are measures
of spread?
A. variance
B. range
C. mode
ANSWER: A, B
"""

MOODLE = """<?xml version="1.0" encoding="UTF-8"?>
<quiz>
<question type="category"><category><text>$course$/Week 1</text></category></question>
<question type="multichoice"><name><text>robust</text></name>
 <questiontext format="html"><text>
<![CDATA[<p>Which is robust?</p><img src="a.png" alt="boxplot">]]></text></questiontext>
 <single>true</single><answer fraction="0"><text>mean</text></answer>
 <answer fraction="100" format="html"><text><![CDATA[<p>median &amp; quartiles</p>]]></text>
 <feedback><text>Yes</text></feedback></answer><tags><tag><text>hard</text></tag></tags></question>
<question type="multichoice"><name><text>spread</text></name><questiontext><text>Which?</text></questiontext>
 <single>false</single><answer fraction="50"><text>sd</text></answer><answer fraction="50"><text>IQR</text></answer>
 <answer fraction="-100"><text>mode</text></answer></question>
<question type="numerical"><name><text>num</text></name><questiontext><text>Mean?</text></questiontext>
 <answer fraction="100"><text>3.5</text><tolerance>0.1</tolerance></answer></question>
<question type="shortanswer"><name><text>short</text></name><questiontext><text>City?</text></questiontext>
 <answer fraction="100"><text>New York</text></answer><answer fraction="100"><text>NYC</text></answer>
 <answer fraction="50"><text>York</text></answer></question>
<question type="truefalse"><name><text>tf</text></name><questiontext><text>True?</text></questiontext>
 <answer fraction="100"><text>true</text></answer><answer fraction="0"><text>false</text></answer></question>
<question type="essay"><name><text>essay</text></name><questiontext><text>Why?</text></questiontext></question>
<question type="matching"><name><text>match</text></name><questiontext><text>Match.</text></questiontext>
 <subquestion><text>mu</text><answer><text>mean</text></answer></subquestion>
 <subquestion><text>sigma</text><answer><text>sd</text></answer></subquestion></question>
<question type="calculated"><name><text>calc</text></name>
<questiontext><text>{a}+{b}?</text></questiontext></question>
</quiz>
"""

QTI2 = """<?xml version="1.0" encoding="UTF-8"?>
<assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" identifier="i{n}" title="{title}">
<responseDeclaration identifier="RESPONSE" cardinality="{cardinality}" baseType="identifier">
<correctResponse>{values}</correctResponse></responseDeclaration>
<itemBody><p>Look &amp; see.</p>{interaction}</itemBody></assessmentItem>
"""
CHOICES = """<choiceInteraction responseIdentifier="RESPONSE"><prompt>Which?</prompt>
<simpleChoice identifier="c9">mean</simpleChoice><simpleChoice identifier="c7">median</simpleChoice>
<simpleChoice identifier="c1">mode</simpleChoice></choiceInteraction>"""
ENTRY = '<p>It is <textEntryInteraction responseIdentifier="RESPONSE"/> here.</p>'
MATCH = """<matchInteraction responseIdentifier="RESPONSE"><prompt>Match</prompt><simpleMatchSet>
<simpleAssociableChoice identifier="a">mu</simpleAssociableChoice>
<simpleAssociableChoice identifier="b">sigma</simpleAssociableChoice></simpleMatchSet><simpleMatchSet>
<simpleAssociableChoice identifier="x">sd</simpleAssociableChoice>
<simpleAssociableChoice identifier="y">mean</simpleAssociableChoice></simpleMatchSet></matchInteraction>"""
ESSAY = '<extendedTextInteraction responseIdentifier="RESPONSE"/>'

CANVAS = """<?xml version="1.0" encoding="UTF-8"?>
<questestinterop xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2"><assessment ident="a"><section ident="s">
<item ident="q1" title="robust"><itemmetadata><qtimetadata><qtimetadatafield><fieldlabel>question_type</fieldlabel>
<fieldentry>multiple_choice_question</fieldentry></qtimetadatafield></qtimetadata></itemmetadata>
<presentation><material><mattext texttype="text/html">&lt;p&gt;Which is robust?&lt;/p&gt;</mattext></material>
<response_lid ident="response1" rcardinality="Single"><render_choice>
<response_label ident="11"><material><mattext>mean</mattext></material></response_label>
<response_label ident="22"><material><mattext>median</mattext></material></response_label>
</render_choice></response_lid></presentation>
<resprocessing><respcondition><conditionvar><varequal respident="response1">22</varequal></conditionvar>
<setvar action="Set">100</setvar></respcondition></resprocessing></item>
<item ident="q2" title="spread"><itemmetadata><qtimetadata><qtimetadatafield><fieldlabel>question_type</fieldlabel>
<fieldentry>multiple_answers_question</fieldentry></qtimetadatafield></qtimetadata></itemmetadata>
<presentation><material><mattext>Spread?</mattext></material>
<response_lid ident="r" rcardinality="Multiple"><render_choice>
<response_label ident="1"><material><mattext>sd</mattext></material></response_label>
<response_label ident="2"><material><mattext>mode</mattext></material></response_label>
<response_label ident="3"><material><mattext>IQR</mattext></material></response_label></render_choice></response_lid>
</presentation><resprocessing><respcondition><conditionvar><and><varequal respident="r">1</varequal>
<not><varequal respident="r">2</varequal></not><varequal respident="r">3</varequal></and></conditionvar>
<setvar>100</setvar></respcondition></resprocessing></item>
<item ident="q3" title="number"><presentation><material><mattext>How many?</mattext></material>
<response_str ident="r"><render_fib/></response_str></presentation><resprocessing><respcondition><conditionvar><or>
<varequal respident="r">5</varequal><and><vargte respident="r">4.5</vargte><varlte respident="r">5.5</varlte></and>
</or></conditionvar><setvar>100</setvar></respcondition></resprocessing></item>
<item ident="q4" title="essay"><presentation><material><mattext>Why?</mattext></material>
<response_str ident="r"><render_fib/></response_str></presentation></item>
</section></assessment></questestinterop>
"""

RMD = """```{r data, include = FALSE}
x <- 1
```

Question
========
Which is robust?

Answerlist
----------
* the mean
* the median
* the trimmed mean

Solution
========
Both of the last.

Meta-information
================
exname: robust
extype: mchoice
exsolution: 011
exshuffle: TRUE
"""

RNW = r"""<<echo=FALSE>>=
x <- 1
@
\begin{question}
What is \emph{50\%} of 7?
\end{question}
\begin{solution}
3.5
\end{solution}
%% \exname{half}
%% \extype{num}
%% \exsolution{3.5}
%% \extol{0.01}
"""


def load(folder: Path, name: str, content: str | bytes) -> Bank:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_bank(path)


def zipped(files: dict[str, str]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return raw.getvalue()


def notes(path: Path) -> str:
    return "\n".join(map(str, examine_bank(path).findings))


def test_gift(tmp_path):
    bank = load(tmp_path, "b.gift", GIFT)
    assert [q.id for q in bank] == ["mean robust", "both", "pi", "between", "town", "tf", "why", "match"]
    assert bank["mean robust"].question == "Which is robust?"
    assert bank["mean robust"].category == "Summaries"
    assert bank["mean robust"].options == {"A": "the median", "B": "the mean", "C": "the range"}
    assert bank["mean robust"].choice("answer") == ("A",)
    assert bank["both"].choice("answer") == ("A", "B")
    assert "all right options" in bank["both"].format
    assert (bank["pi"].answers, bank["pi"].tolerance) == ({"answer": "3.14"}, "0.01")
    assert (bank["between"].answers, bank["between"].tolerance) == ({"answer": "3"}, "2")
    assert bank["town"].question == "The mean = sum over _____ ."
    assert (bank["town"].answers, bank["town"].accepted) == ({"answer": "n"}, {"answer": ("N", "the count")})
    assert bank["tf"].answers == {"answer": "False"}
    assert not bank["why"].marked
    assert [bank["match"].choice(part) for part in ("match_1", "match_2")] == [("A",), ("B",)]
    said = notes(tmp_path / "b.gift")
    assert "feedback" in said
    assert "without an answer block" in said


def test_aiken_and_gift_in_a_text_file(tmp_path):
    one, two = load(tmp_path, "b.txt", AIKEN)
    assert one.choice("answer") == ("B",)
    assert (two.question, two.choice("answer")) == ("Which are measures\nof spread?", ("A", "B"))
    assert len(load(tmp_path, "c.txt", GIFT)) == 8
    broken = AIKEN.replace("ANSWER: B", "ANSWER: D")
    bank = load(tmp_path, "d.txt", broken)
    assert len(bank) == 1
    assert bank.problems[0].line == 5


def test_moodle_xml(tmp_path):
    bank = load(tmp_path, "b.xml", MOODLE)
    assert [q.id for q in bank] == ["robust", "spread", "num", "short", "tf", "essay", "match"]
    assert bank["robust"].question == "Which is robust?\n[boxplot]"
    assert bank["robust"].options == {"A": "mean", "B": "median & quartiles"}
    assert (bank["robust"].choice("answer"), bank["robust"].level) == (("B",), "hard")
    assert bank["spread"].choice("answer") == ("A", "B")
    assert (bank["num"].answers, bank["num"].tolerance) == ({"answer": "3.5"}, "0.1")
    assert bank["short"].accepted == {"answer": ("NYC",)}
    assert bank["tf"].answers == {"answer": "True"}
    assert not bank["essay"].marked
    assert bank["match"].choice("match_2") == ("B",)
    said = notes(tmp_path / "b.xml")
    for part in ("image", "feedback", "partial credit", "'calculated'"):
        assert part in said
    (problem,) = bank.problems
    assert problem.line == MOODLE[: MOODLE.index('type="calculated"')].count("\n") + 1


def item(n, title, cardinality, values, interaction) -> str:
    values = "".join(f"<value>{v}</value>" for v in values)
    return QTI2.format(n=n, title=title, cardinality=cardinality, values=values, interaction=interaction)


def test_qti_2_in_a_package(tmp_path):
    package = {
        "imsmanifest.xml": "<manifest><resources/></manifest>",
        "i1.xml": item(1, "one", "single", ["c7"], CHOICES),
        "i2.xml": item(2, "two", "multiple", ["c9", "c1"], CHOICES),
        "i3.xml": item(3, "three", "single", ["42"], ENTRY),
        "i4.xml": item(4, "four", "multiple", ["a y", "b x"], MATCH),
        "i5.xml": item(5, "five", "single", [], ESSAY),
        "i6.xml": item(6, "six", "single", [], "<uploadInteraction/>"),
        "image.png": "x",
    }
    bank = load(tmp_path, "b.zip", zipped(package))
    assert [q.id for q in bank] == ["one", "two", "three", "four", "five"]
    assert bank["one"].question == "Look & see.\nWhich?"
    assert bank["one"].choice("answer") == ("B",)
    assert bank["two"].choice("answer") == ("A", "C")
    assert bank["three"].answers == {"answer": "42"}
    assert "It is _____ here." in bank["three"].question
    assert (bank["four"].choice("match_1"), bank["four"].choice("match_2")) == (("B",), ("A",))
    assert not bank["five"].marked
    assert "uploadInteraction" in str(bank.problems[0])
    assert load(tmp_path, "i.xml", package["i1.xml"])["one"].choice("answer") == ("B",)


def test_qti_1_as_canvas_exports_it(tmp_path):
    for name, content in (
        ("c.xml", CANVAS),
        ("c.zip", zipped({"g/g.xml": CANVAS, "g/assessment_meta.xml": "<quiz/>"})),
    ):
        bank = load(tmp_path, name, content)
        assert [q.id for q in bank] == ["robust", "spread", "number", "essay"]
        assert bank["robust"].question == "Which is robust?"
        assert bank["robust"].choice("answer") == ("B",)
        assert bank["spread"].choice("answer") == ("A", "C")
        assert (bank["number"].answers, float(bank["number"].tolerance)) == ({"answer": "5"}, 0.5)
        assert not bank["essay"].marked


def test_r_exams(tmp_path):
    (question,) = load(tmp_path, "robust.Rmd", RMD)
    assert (question.id, question.choice("answer")) == ("robust", ("B", "C"))
    assert question.reference_text == "Both of the last."
    (half,) = load(tmp_path, "half.Rnw", RNW)
    assert half.question == "What is 50% of 7?"
    assert (half.answers, half.tolerance) == ({"answer": "3.5"}, "0.01")
    (tmp_path / "random.Rmd").write_text("Question\n====\nMean of `r x`?\n\nMeta-information\n====\nextype: num\n"
                                         "exsolution: `r mean(x)`\n")  # fmt: skip
    bank = load_bank(tmp_path)
    assert [q.id for q in bank] == ["half", "robust"]
    assert "R makes" in bank.problems[0].message
    assert bank.problems[0].path == tmp_path / "random.Rmd"


def test_cloze_of_r_exams(tmp_path):
    text = RMD.replace("mchoice", "cloze\nexclozetype: num|num|string").replace("011", "1.5|2|median\nextol: 0.1")
    (question,) = load(tmp_path, "c.Rmd", text)
    assert question.answers == {"part_1": "1.5", "part_2": "2", "part_3": "median"}
    assert question.tolerance == {"part_1": "0.1", "part_2": "0.1"}


def cell(text: str) -> str:
    return f"<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"


def test_a_table_in_a_word_document(tmp_path):
    rows = [("Question", "Model answer", "Level"), ("How many?", "3", "easy"), ("Why?", "", "hard")]
    body = "".join(f"<w:tr>{''.join(map(cell, row))}</w:tr>" for row in rows)
    document = (
        '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body><w:p/><w:tbl>{body}</w:tbl></w:body></w:document>"
    )
    one, two = load(tmp_path, "b.docx", zipped({"word/document.xml": document}))
    assert (one.answers, one.level) == ({"answer": "3"}, "easy")
    assert not two.marked
    with pytest.raises(BankError, match="no table"):
        load(tmp_path, "c.docx", zipped({"word/document.xml": document.replace("Question", "Thing")}))


@pytest.mark.parametrize("suffix", [".gift", ".xml"])
def test_what_is_written_is_read_back(tmp_path, suffix):
    source = tmp_path / "source.gift"
    source.write_text(GIFT.split("::match::", maxsplit=1)[0])
    done = convert_bank(source, tmp_path / f"out{suffix}")
    for wrote, back in zip(load_bank(source), load_bank(done.path), strict=True):
        assert (wrote.question, wrote.options, wrote.accepted) == (back.question, back.options, back.accepted)
        assert wrote.answers == back.answers
        assert (wrote.tolerance, wrote.marked, wrote.id) == (back.tolerance, back.marked, back.id)


def test_aiken_holds_choices_and_nothing_else(tmp_path):
    source = tmp_path / "b.txt"
    source.write_text(AIKEN)
    done = convert_bank(source, tmp_path / "out.aiken")
    assert [q.choice("answer") for q in load_bank(done.path)] == [("B",), ("A", "B")]
    gift = tmp_path / "b.gift"
    gift.write_text(GIFT)
    with pytest.raises(BankError, match="no choice"):
        convert_bank(gift, tmp_path / "no.aiken")
    with pytest.raises(BankError, match="read and not written"):
        convert_bank(gift, tmp_path / "no.zip")


def test_fields_without_a_place_in_a_quiz_are_said(tmp_path):
    source = tmp_path / "b.csv"
    source.write_text("question,answer,level,rounding\nMean?,3.14,hard,1\n")
    done = convert_bank(source, tmp_path / "out.gift")
    assert {"level", "rounding"} <= set(done.not_held)


LAUGHS = '<!DOCTYPE l [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
) + "]><quiz>&i;</quiz>"  # fmt: skip
OUTSIDE = '<!DOCTYPE q [<!ENTITY x SYSTEM "file:///etc/passwd">]><quiz>&x;</quiz>'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("laughs.xml", LAUGHS),
        ("outside.xml", OUTSIDE),
        ("cut.xml", MOODLE[:900]),
        ("other.xml", "<html/>"),
        ("deep.xml", "<quiz>" + "<question>" * 100_000),
        ("empty.gift", ""),
        ("open.gift", "::a:: What? {=b"),
        ("none.zip", b"PK\x03\x04 cut"),
        ("empty.zip", zipped({"a.txt": "x"})),
        ("cut.docx", zipped({"word/document.xml": "<w"})),
        ("text.docx", b"plain"),
        ("none.Rnw", "plain"),
        ("none.txt", "plain"),
    ],
)
def test_a_damaged_quiz_is_one_line(tmp_path, name, content):
    began = time.process_time()
    with pytest.raises(BankError) as caught:
        load(tmp_path, name, content)
    assert "\n" not in str(caught.value)
    assert time.process_time() - began < 3


def test_a_zip_bomb_is_refused(tmp_path):
    with pytest.raises(BankError, match="unpacks to more than"):
        load(tmp_path, "b.zip", zipped({"a.xml": " " * 50_000_100}))
