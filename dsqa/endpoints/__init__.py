"""Endpoints: whatever answers chat completions, one attempt at a time."""

from dsqa.endpoints.failures import Failure, PassingFailure, PermanentFailure, Scope
from dsqa.endpoints.open import Endpoint, address_of, open_endpoint
from dsqa.endpoints.reply import Reply, read_replies

__all__ = [
    "Endpoint",
    "Failure",
    "PassingFailure",
    "PermanentFailure",
    "Reply",
    "Scope",
    "address_of",
    "open_endpoint",
    "read_replies",
]
