"""How reliable are a language model's answers to data-science questions?"""

__all__ = ["__version__"]

__version__ = "0.1.0"
