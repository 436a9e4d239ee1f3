"""What runs leave is parsed by a process in a sandbox, in time that grows with its length and no faster."""

import json
import signal
import socket
import subprocess
import sys
import time

import pytest

from dsqa.execution import Snippet, execute
from dsqa.execution.artefacts import read_artefacts
from dsqa.execution.artefacts.reader import Reader, clean_here
from dsqa.execution.isolation import find_launch
from dsqa.execution.launch import INSIDE
from dsqa.study.sections import ArtefactConfig, ExecutionConfig
from tests.execution.test_artefact_reading import END, SVG, chunk, frame, png

HEAD = '<svg xmlns="http://www.w3.org/2000/svg">'
# n → text: what would be read in quadratic time, or worse, by a parser that takes it as it comes.
BOMBS = {
    "doctypes": lambda n: "<!DOCTYPE" * n,
    "doctypes in one": lambda n: "<!DOCTYPE svg " * n + ">",
    "many removed": lambda n: HEAD + "<g/>" * n + "<a/>" * n + "</svg>",
    "deep": lambda n: HEAD + "<g>" * n,
    "deep and removed": lambda n: HEAD + "<a>" * n,
    "attributes": lambda n: HEAD + "<g " + " ".join(f'a{i}="1"' for i in range(n)) + "/></svg>",
    "namespaces": lambda n: HEAD + "<g " + " ".join(f'xmlns:a{i}="u{i}"' for i in range(n)) + "/></svg>",
    "declarations": lambda n: HEAD + '<g style="' + "fill:red;" * n + '"/></svg>',
    "references in one value": lambda n: HEAD + '<g style="fill:' + "url(" * n + '"/></svg>',
    "spaces in a value": lambda n: HEAD + '<g fill="url(' + " " * n + '(" stroke="rgb(' + "1 " * n + 'x"/></svg>',
    "style sheets": lambda n: HEAD + "<style/>" * n + "</svg>",
    "entities": lambda n: "<!DOCTYPE svg [" + "<!ENTITY a 'b'>" * n + "]>" + HEAD + "</svg>",
    "comments": lambda n: HEAD + "<!--x-->" * n + "</svg>",
    "character data": lambda n: HEAD + "<text>" + "<![CDATA[x]]>&#65;" * n + "</text></svg>",
    "ids": lambda n: HEAD + "".join(f"<g id='i{i}'/>" for i in range(n)) + "</svg>",
    "uses": lambda n: HEAD + "<path id='a' d='" + "M 0 0 " * n + "'/>" + "<use href='#a'/>" * n + "</svg>",
}


def seconds(media, content):
    start = time.process_time()
    clean_here(media, "x", content)
    return time.process_time() - start


@pytest.mark.parametrize("name", BOMBS)
def test_an_svg_is_read_in_linear_time(name):
    small, large = (BOMBS[name](n).encode() for n in (8_000, 32_000))
    # Four times the length: 16 times the time, were it quadratic.
    assert seconds("svg", large) < 8 * max(seconds("svg", small), 0.01)


@pytest.mark.parametrize(
    "content",
    [b"[" * 400_000, b"[" * 200_000 + b"]" * 200_000, b"9" * 400_000, b'{"a":' * 100_000, b"[1e999, 1]",
     b"1e" + b"9" * 100_000],
)  # fmt: skip
def test_json_beyond_reason_is_none(content):
    assert clean_here("json", "x", content) is None


@pytest.mark.parametrize(
    "inner",
    [
        "".join(f"<g id='g{i + 1}'>" + f"<use href='#g{i}'/>" * 9 + "</g>" for i in range(20)) + "<use href='#g20'/>",
        "<g id='a'><use href='#a'/></g>",
        "<pattern id='p'><rect fill='url(#p)'/></pattern><rect fill='url(#p)'/>",
        "<clipPath id='c'><rect clip-path='url(#d)'/></clipPath><g clip-path='url(#c)'/>",
        "<path id='a' d='" + "M 0 0 " * 100_000 + "'/>" + "<use href='#a'/>" * 100,
    ],
)
def test_a_drawing_that_multiplies_is_none(inner):
    assert clean_here("svg", "x", SVG.format(inner).encode()) is None


@pytest.mark.parametrize(
    ("attribute", "gone"),
    [
        ("style='background:image-set(\"http://a.b/c\" 1x)'", "a.b"),
        ("style='fill:image(\"http://a.b\")'", "a.b"), ("style='fill:u\\72l(http://a.b)'", "a.b"),
        ("style='background-image:url(#x)'", "background"), ("style='fill:/**/url(//a.b)'", "a.b"),
        ("fill='image-set(url(http://a.b) 1x)'", "a.b"), ("cursor='url(http://a.b)'", "a.b"),
        ("filter='url(http://a.b#c)'", "a.b"), ("mask='url(#m)'", "mask"), ("src='http://a.b'", "a.b"),
        ("style='fill:url(&#104;ttp://a.b)'", "a.b"), ("style='fill: var(--x, url(//a.b))'", "a.b"),
        ("style='font-family: \"a\"; src: url(//a.b)'", "a.b"), ("xml:base='http://a.b'", "a.b"),
        ("class='x'", "class"), ("style='@import \"//a.b\"'", "a.b"), ("onload='x()'", "onload"),
    ],
)  # fmt: skip
def test_what_is_on_no_list_goes(attribute, gone):
    kept = clean_here("svg", "x", SVG.format(f"<rect width='1' {attribute}/>").encode())
    assert kept is not None
    assert gone.encode() not in kept[1]
    assert b'<rect width="1"' in kept[1]


def test_what_draws_stays():
    inner = (
        "<defs><path id='m' d='M 0 3 C 1,2 3,4 5.5e-3,-6 z' style='stroke: #000000'/><clipPath id='c'><rect x='1' "
        "height='2.5'/></clipPath></defs><g clip-path='url(#c)' id='axes_1'><use xlink:href='#m' x='1' y='2' "
        "style='fill: #1f77b4; stroke-width: 0.8; fill-opacity: 0.5'/></g><text transform='rotate(-90)' "
        "style=\"font: 10px 'DejaVu Sans', sans-serif; text-anchor: middle\">a &lt; b</text>"
    )
    _, kept = clean_here("svg", "x", SVG.format(inner).encode())
    for part in (b"M 0 3 C 1,2 3,4 5.5e-3,-6 z", b"stroke: #000000", b'clip-path="url(#c)"', b'xlink:href="#m"',
                 b"fill: #1f77b4; stroke-width: 0.8; fill-opacity: 0.5", b"rotate(-90)", b"a &lt; b",
                 b"font: 10px 'DejaVu Sans', sans-serif", b'id="axes_1"'):  # fmt: skip
        assert part in kept, part


def test_a_png_with_much_packed_into_it_is_kept_without():
    packed = chunk(b"iCCP", b"a\0\0" + bytes(10_000)) + chunk(b"zTXt", b"a\0\0" + bytes(10_000))
    assert clean_here("png", "x", png(extra=packed)) == ("png", png())
    assert clean_here("png", "x", png(extra=chunk(b"PLTE", bytes(3000)))) is None


@pytest.fixture(scope="module")
def reader():
    opened = Reader(find_launch()[0])
    yield opened
    opened.close()


def test_the_reader_gives_what_reading_here_gives(reader):
    cases = [("png", "x", png()), ("svg", "x", SVG.format("<g/>").encode()), ("json", "x", b'{"a": "\\u00e9"}'),
             ("json", "x", b"nonsense"), ("svg", "x", b""), ("file", "a.csv", "a,é\n".encode()),
             ("file", "a.bin", bytes(300_000)), ("file", "é\n.svg", SVG.format("").encode())]  # fmt: skip
    for case in cases:
        assert reader(*case) == clean_here(*case), case


def test_a_part_that_ends_the_reader_takes_nothing_else_with_it():
    tried = Reader(find_launch()[0])
    try:
        assert tried("png", "x", png()) is not None
        tried._link.shutdown(socket.SHUT_RDWR)  # as when the other end is gone
        kept = read_artefacts(frame() + frame(name="b.txt") + END, ArtefactConfig(), tried)
        assert kept.notes[0] == "file a.txt: reading it as file took too long"
        assert [len(artefact.parts) for artefact in kept.artefacts] == [0, 1]
    finally:
        tried.close()


def test_the_reader_ends_itself_at_its_cpu_limit():
    # Nothing known takes that long, so the limit is made shorter than an honest drawing takes.
    code = (
        f"import sys; sys.path.insert(0, {str(INSIDE.parent)!r}); from inside import reader; "
        "reader._CPU_SECONDS = 0.02; reader.main({'layers': dict.fromkeys(['namespaces', 'landlock', 'seccomp'])})"
    )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdin=theirs)
        link = ours.makefile("rwb")
        assert link.readline() == b"ready\n"
        drawing = BOMBS["ids"](100_000).encode()
        link.write(json.dumps(["svg", "x", len(drawing)]).encode() + b"\n" + drawing)
        link.flush()
        assert process.wait(30) == -signal.SIGPROF


def test_what_a_snippet_leaves_holds_the_host_no_longer_than_reading_it_takes():
    code = (
        "open('a.svg', 'w').write('<!DOCTYPE' * 20000)\n"
        f"open('b.svg', 'w').write('{HEAD}' + '<g/>' * 60000 + '<a/>' * 60000 + '</svg>')"
    )
    before = time.process_time()
    (result,) = execute([Snippet("a", code)], ExecutionConfig())
    assert time.process_time() - before < 5  # it was 29 and 26 s
    assert [(a.name, a.parts[0].media) for a in result.artefacts] == [("a.svg", "bin"), ("b.svg", "svg")]
    assert b"<a" not in result.artefacts[1].parts[0].content
