"""A run's clocks, whatever it says of itself on the descriptor that is meant for them."""

import os

from hypothesis import given
from hypothesis import strategies as st

from dsqa.execution.inside.watch import _MARK, Child

KINDS = st.sampled_from([b"b", b"e", b"f", b"x"])
TIMES = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(KINDS, TIMES), max_size=12), st.floats(0, 20))
def test_no_lie_makes_a_time_negative_or_hides_more_than_the_limit(marks, cpu):
    read, write = os.pipe()
    os.set_blocking(read, False)
    try:
        child = Child("a", 1, 0.0, 30.0, 10.0, 5.0, read)
        os.write(write, b"".join(_MARK.pack(kind, value) for kind, value in marks))
        child.read_marks(1.0, cpu)
        used = child.used(60.0, cpu)
    finally:
        os.close(read)
        os.close(write)
    assert 0 <= used["cpu"] <= cpu
    assert 0 <= used["wall"] <= 60
    assert abs(used["cpu"] + used["apart"] - cpu) < 1e-9


def test_what_floods_the_descriptor_is_no_longer_listened_to():
    read, write = os.pipe()
    os.set_blocking(read, False)
    try:
        child = Child("a", 1, 0.0, 30.0, 10.0, 5.0, read)
        for _ in range(400):
            os.write(write, bytes(4096))
            child.read_marks(1.0, 1.0)
        assert child.silent
    finally:
        os.close(read)
        os.close(write)
