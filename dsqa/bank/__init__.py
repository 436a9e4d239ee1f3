"""Banks: questions with their data files and ground truths."""

from dsqa.bank.checks import format_names
from dsqa.bank.criteria import Criterion, criteria_by_task_type, criteria_for
from dsqa.bank.load import builtin_bank_path, load_bank
from dsqa.bank.model import Bank, Level, Question
from dsqa.bank.options import letters_of, options_in, options_text
from dsqa.bank.subsets import Subset, select_questions, subsets_of

__all__ = [
    "Bank",
    "Criterion",
    "Level",
    "Question",
    "Subset",
    "builtin_bank_path",
    "criteria_by_task_type",
    "criteria_for",
    "format_names",
    "letters_of",
    "load_bank",
    "options_in",
    "options_text",
    "select_questions",
    "subsets_of",
]
