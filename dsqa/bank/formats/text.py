"""Bytes of a file to text, whatever a spreadsheet or an editor has saved it as."""

from __future__ import annotations

import codecs
from pathlib import Path

from dsqa.bank.findings import Finding
from dsqa.errors import BankError

__all__ = ["read_text"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_text(path: Path, *, only_unicode: bool = False) -> tuple[str, list[Finding]]:
    """Return a file's text and what was found on the way.

    A byte order mark decides; without one the text is UTF-8, or else Windows-1252, in which Excel saves a CSV
    file on many machines: that is warned of. Line ends are left as they are.

    Parameters
    ----------
    path
        The file.
    only_unicode
        Refuse what is not UTF-8, UTF-16 or UTF-32.

    Raises
    ------
    BankError
        The bytes are no text, with the line where they cease to be.
    """
    raw = path.read_bytes()
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    if encoding is None and raw[:2].count(0) == 1 and len(raw) % 2 == 0:
        # Every other byte of Latin text in UTF-16 is zero; no other text has a zero.
        encoding = "utf-16-le" if raw[1] == 0 else "utf-16-be"
    try:
        return raw.decode(encoding or "utf-8"), []
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"is not {(encoding or 'utf-8').upper().removesuffix('-SIG')} text (byte 0x{raw[error.start]:02x})"
    if not only_unicode and encoding is None:
        try:
            text = raw.decode("cp1252")
        except UnicodeDecodeError:
            pass
        else:
            hint = "save the file as UTF-8 ('CSV UTF-8' in Excel), or look that accents and dashes came out right"
            found = Finding(None, "is not UTF-8; read as Windows-1252", hint, severity="warning", line=line)
            return text, [found]
    raise BankError(message, path=path, line=line, hint="save the file as UTF-8")
