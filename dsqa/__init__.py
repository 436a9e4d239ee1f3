"""How reliable are the answers of a language model to data-science questions: sampled, marked, counted."""

__all__ = ["__version__"]

__version__ = "0.1.0"
