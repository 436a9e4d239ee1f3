"""Banks: questions with their data files and ground truths."""

from dsqa.bank.checks import format_names
from dsqa.bank.load import builtin_bank_path, load_bank
from dsqa.bank.model import Bank, Level, Question

__all__ = ["Bank", "Level", "Question", "builtin_bank_path", "format_names", "load_bank"]
