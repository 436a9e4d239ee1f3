from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsqa.importing.readers import json_stream
from dsqa.importing.readers.json_stream import json_members

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def members(text: str | bytes, *elements: tuple[str, ...]) -> list[Any]:
    return list(json_members(io.BytesIO(text if isinstance(text, bytes) else text.encode()), elements))


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(), values, max_size=5), st.integers(1, 40), st.booleans())
def test_wherever_the_pieces_end_the_values_are_json_s_own(
    document: dict[str, Any], chunk: int, ascii_only: bool
) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        try:
            text.decode()
        except UnicodeDecodeError:
            with pytest.raises(ValueError, match="UTF-8"):
                members(text)
            return
        assert members(text) == [((name,), value) for name, value in document.items()]


def test_a_long_list_comes_element_by_element_and_the_rest_whole() -> None:
    text = '\ufeff{"a": {"x": [1, 2], "y": {"z": [3]}}, "b": [4]}'
    assert members(text, ("a", "x")) == [(("a", "x"), 1), (("a", "x"), 2), (("a", "y"), {"z": [3]}), (("b",), [4])]
    assert members("[1, {}]", ()) == [((), 1), ((), {})]


def test_nan_which_inspect_writes_is_no_value() -> None:
    assert members('{"value": NaN, "most": -Infinity}') == [(("value",), None), (("most",), None)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": [1, 2', "ends in the middle"),
        ('{"a": "cut', "ends in the middle"),
        ('{"a": 1', "ends in the middle"),
        ('{"a": nul}' + " " * 99, "at character 6"),
        ('{"a": 1} {"b": 2}', "something follows"),
        ("[1]", "no {…} object"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_broken_text_is_told_by_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        members(text)


def test_a_mistake_at_the_beginning_is_found_without_reading_on() -> None:
    class Endless(io.RawIOBase):
        read_so_far = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            Endless.read_so_far += len(buffer)
            assert Endless.read_so_far < 64 << 20
            buffer[:] = (
                b" " * len(buffer) if self.read_so_far > len(buffer) else b'{"a": oops' + b" " * (len(buffer) - 10)
            )
            return len(buffer)

    with pytest.raises(ValueError, match="not valid JSON"):
        list(json_members(io.BufferedReader(Endless(), 8192), []))


def test_memory_holds_one_element_however_many_there_are() -> None:
    element = json.dumps({"text": "x" * 50_000})
    text = io.BytesIO(('{"samples": [' + ",".join([element] * 600) + "]}").encode())
    tracemalloc.start()
    try:
        seen = sum(1 for _ in json_members(text, [("samples",)]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seen == 600
    assert peak < 12 << 20  # of 30 MB
