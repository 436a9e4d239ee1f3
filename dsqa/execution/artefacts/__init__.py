"""What a run left: read as the untrusted thing it is, and stored once by its hash."""

from dsqa.execution.artefacts.model import Artefact, Part
from dsqa.execution.artefacts.read import Kept, read_artefacts
from dsqa.execution.artefacts.store import ArtefactStore

__all__ = ["Artefact", "ArtefactStore", "Kept", "Part", "read_artefacts"]
