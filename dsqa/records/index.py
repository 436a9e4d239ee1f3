"""Which runs are recorded: a bit per run, so that 100,000 of them weigh next to nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Self

from dsqa.records.record import RunKey

__all__ = ["RunIndex"]


class RunIndex:
    """The set of recorded runs, and how many of each condition have which status."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str, str], bytearray] = {}
        self._count = 0
        self.statuses: Counter[tuple[str, str]] = Counter()
        """Runs by (condition id, status)."""

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: RunKey) -> bool:
        bits = self._runs.get((key.question_id, key.condition_id, key.prompt_hash))
        byte, bit = divmod(key.run, 8)
        return bits is not None and byte < len(bits) and bool(bits[byte] >> bit & 1)

    def add(self, key: RunKey, status: str) -> bool:
        """Add a run; return False, and change nothing, if it was there already."""
        if key in self:
            return False
        bits = self._runs.setdefault((key.question_id, key.condition_id, key.prompt_hash), bytearray())
        byte, bit = divmod(key.run, 8)
        if byte >= len(bits):
            bits.extend(bytes(byte + 1 - len(bits)))
        bits[byte] |= 1 << bit
        self._count += 1
        self.statuses[key.condition_id, status] += 1
        return True

    def keys(self) -> Iterator[RunKey]:
        """Yield every run's key."""
        for (question_id, condition_id, prompt_hash), bits in self._runs.items():
            for byte, value in enumerate(bits):
                for bit in range(8):
                    if value >> bit & 1:
                        yield RunKey(question_id, condition_id, 8 * byte + bit, prompt_hash)

    def copy(self) -> Self:
        """Return an independent copy."""
        other = type(self)()
        other._runs = {cell: bytearray(bits) for cell, bits in self._runs.items()}
        other._count = self._count
        other.statuses = Counter(self.statuses)
        return other
