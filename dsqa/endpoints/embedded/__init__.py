"""The embedded model: a real one on this machine, with no key and no cost."""

from dsqa.endpoints.embedded.weights import fetch_weights, find_weights

__all__ = ["fetch_weights", "find_weights"]
