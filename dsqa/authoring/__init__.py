"""What staff do with a bank before a study: look for mistakes, and let reference code work the answers out."""

from dsqa.authoring.answer import Answered, answer_bank
from dsqa.authoring.check import Checked, check_bank

__all__ = ["Answered", "Checked", "answer_bank", "check_bank"]
