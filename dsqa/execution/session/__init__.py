"""A kernel in the sandbox that stays for several cells in a row."""

from dsqa.execution.session.host import SessionHost, open_session
from dsqa.execution.session.model import CellResult, Output, SessionLimits
from dsqa.execution.session.session import Session

__all__ = ["CellResult", "Output", "Session", "SessionHost", "SessionLimits", "open_session"]
