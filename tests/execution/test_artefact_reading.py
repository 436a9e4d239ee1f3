"""Untrusted bytes: frames, PNG and SVG are believed only as far as they check out; contents are stored once."""

import json
import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.errors import StudyError
from dsqa.execution import Artefact, ArtefactStore, Part
from dsqa.execution.artefacts import read_artefacts
from dsqa.execution.inside.png import checked_png
from dsqa.execution.inside.svg import cleaned_svg
from dsqa.study.sections import ArtefactConfig

CAPS = ArtefactConfig(figures=2, files=2, total_mb=1)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width=2, height=2, extra=b""):
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0\1\2" * 2)
    parts = [chunk(b"IHDR", header), extra, chunk(b"IDAT", pixels), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def frame(kind="file", name="a.txt", parts=(("file", b"abc"),), facts=None):
    head = {"kind": kind, "name": name, "parts": [[m, len(c)] for m, c in parts], "facts": facts or {}}
    return json.dumps(head).encode() + b"\n" + b"".join(c for _, c in parts)


END = frame("end", "", (), {"notes": ["a note"]})


def test_a_png_is_kept_without_what_does_not_show():
    assert checked_png(png()) == png()
    assert checked_png(png(extra=chunk(b"tEXt", b"Comment\0hidden"))) == png()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x89PNG\r\n\x1a\n", png()[:-1], png().replace(b"IDAT", b"IDAX"), png(0, 2), png(30_000, 2),
        png(19_000, 19_000), b"GIF89a" + png(), png()[:8] + chunk(b"IEND", b""),
        png()[:8] + chunk(b"tEXt", b"x") + png()[8:],
    ],
)  # fmt: skip
def test_what_is_no_whole_png_of_bearable_size(content):
    assert checked_png(content) is None


def test_nothing_can_follow_a_png():
    assert checked_png(png() + b"<script>") == png()


@pytest.mark.parametrize(
    ("inner", "gone"),
    [
        ("<script>alert(1)</script><rect width='1'/>", "alert"),
        ("<rect width='1' onclick='x()'/>", "onclick"),
        ("<rect style='fill:url(http://a.b/c)'/>", "http://a.b"),
        ("<rect fill='url( \"//a.b\")'/>", "a.b"),
        ("<use xlink:href='http://a.b/c#d'/>", "a.b"),
        ("<use href='file:///etc/passwd'/>", "passwd"),
        ("<image xlink:href='data:image/svg+xml;base64,AAAA'/>", "svg+xml"),
        ("<image xlink:href='data:image/png;base64,AAAA'/>", "AAAA"),
        ("<foreignObject><b xmlns='http://www.w3.org/1999/xhtml'>x</b></foreignObject>", "foreign"),
        ("<style>@import 'http://a.b'</style>", "import"),
        ("<animate attributeName='href'/><set/>", "animate"),
        ("<a xlink:href='javascript:x'><rect/></a>", "javascript"),
        ("<?xml-stylesheet href='x'?>", "stylesheet"),
    ],
)
def test_an_svg_keeps_only_what_draws(inner, gone):
    cleaned = cleaned_svg(SVG.format(inner).encode())
    assert cleaned is not None
    assert gone.encode() not in cleaned
    assert b"<svg" in cleaned


@pytest.mark.parametrize(
    "content",
    [
        b"", b"<svg/>", b"<html/>", SVG.format("<g>").encode(), "é".encode("latin-1"),
        SVG.format("").encode("utf-16"),
        b'<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format("&a;").encode(),
        b"<!DOCTYPE svg SYSTEM 'x'><!DOCTYPE svg []>" + SVG.format("").encode(),
        SVG.format("<g>" * 300 + "</g>" * 300).encode(),
    ],
)  # fmt: skip
def test_what_is_no_svg(content):
    assert cleaned_svg(content) is None


def test_cleaning_twice_changes_nothing():
    once = cleaned_svg(SVG.format("<style>*{stroke-linejoin: round}</style><g id='a'><path d='M 0 0'/></g>").encode())
    assert once is not None
    assert cleaned_svg(once) == once


def test_frames_up_to_the_first_damage():
    kept = read_artefacts(frame() + frame(name="b.txt") + END, CAPS)
    assert [a.name for a in kept.artefacts] == ["a.txt", "b.txt"]
    assert kept.notes == ("a note",)
    for damage in (b"x", b"{}\n", frame("else"), frame("end"[:2]), frame(parts=(("exe", b"a"),)), frame()[:-1]):
        kept = read_artefacts(frame() + damage + frame(name="later") + END, CAPS)
        assert "later" not in [a.name for a in kept.artefacts[1:2]]
        assert kept.artefacts[0].name == "a.txt"


def test_a_run_cannot_have_more_kept_than_the_caps_say():
    assert len(read_artefacts(frame() * 5 + END, CAPS).artefacts) == 2
    large = frame(parts=(("file", bytes(600_000)),))
    assert len(read_artefacts(large * 2 + END, CAPS).artefacts) == 1


def test_no_frames_at_all_is_nothing_lost():
    assert read_artefacts(b"", CAPS).notes == ()


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 200))
def test_any_bytes_are_read_without_a_crash(noise, cut):
    whole = frame() + frame("figure", "f", (("png", png()), ("json", b"{}"))) + END
    for data in (noise, whole[:cut] + noise + whole[cut:]):
        for artefact in read_artefacts(data, CAPS).artefacts:
            assert Artefact.from_dict(json.loads(json.dumps(artefact.to_dict()))).to_dict() == artefact.to_dict()


def test_contents_are_stored_once_and_read_back(tmp_path):
    store = ArtefactStore(tmp_path / "artefacts")
    part = Part.of("png", png())
    for name in ("figure 1", "../../figure 2"):
        stored = store.put(Artefact("figure", name, (part,)))
    assert stored.parts[0].content is None
    files = [p for p in (tmp_path / "artefacts").rglob("*") if p.is_file()]
    assert files == [tmp_path / "artefacts" / part.sha256[:2] / f"{part.sha256}.png"]
    again = ArtefactStore(tmp_path / "artefacts")
    assert again.read(stored.parts[0]) == png()
    files[0].write_bytes(b"changed")
    assert again.read(stored.parts[0]) is None
    again.put(Artefact("figure", "x", (part,)))
    assert again.read(stored.parts[0]) == png()
    files[0].unlink()
    assert again.path(stored.parts[0]) is None


def test_a_store_without_a_folder_keeps_no_contents():
    stored = ArtefactStore(None).put(Artefact("file", "a", (Part.of("bin", b"x"),)))
    assert stored.parts[0].content is None
    assert ArtefactStore(None).read(stored.parts[0]) is None


def test_a_store_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "artefacts").write_text("a file where the folder should be")
    with pytest.raises(StudyError, match="cannot be written"):
        ArtefactStore(tmp_path / "artefacts").put(Artefact("file", "a", (Part.of("bin", b"x"),)))


@pytest.mark.parametrize(
    "change", [{"kind": "x"}, {"parts": [{"media": "exe", "sha256": "0" * 64, "size": 1}]},
               {"parts": [{"media": "png", "sha256": "../" + "0" * 61, "size": 1}]}],
)  # fmt: skip
def test_a_damaged_line_names_no_path_outside(change):
    row = Artefact("file", "a", (Part.of("bin", b"x"),)).to_dict() | change
    with pytest.raises(ValueError, match=r"damaged|no kind"):
        Artefact.from_dict(row)
