"""The models that dsqa runs itself, in llama.cpp's server."""

from dsqa.endpoints.embedded.models import DEFAULT_MODEL, MODELS, EmbeddedModel
from dsqa.endpoints.embedded.weights import fetch_weights, find_weights

__all__ = ["DEFAULT_MODEL", "MODELS", "EmbeddedModel", "fetch_weights", "find_weights"]
