"""The quoted fields of delimited text, which may contain line ends."""

from __future__ import annotations

import re

_ESCAPED = re.compile(rb"\\.", re.DOTALL)


class QuotedFields:
    """Find the quoted fields of texts.

    A quotation mark opens one only at the start of a field; elsewhere, as in ``5" mirror``, it is a character.

    Parameters
    ----------
    delimiters : str
        The characters between fields.
    has_escapes : bool
        Whether quotation marks inside quoted fields are written as ``\\"`` instead of ``""``.
    """

    def __init__(self, delimiters: str, *, has_escapes: bool) -> None:
        before = re.escape(delimiters.encode())
        self._field = re.compile(rb'"(?<![^\r\n' + before + rb']")[^"]*(?:""[^"]*)*("?)')
        self._has_escapes = has_escapes

    def hide_line_ends(self, text: bytes) -> bytes:
        """Return a text of the same length in which each line end is the end of a row."""
        text = self._hide_escapes(text)
        return self._field.sub(lambda field: field[0].replace(b"\n", b" "), text) if b'"' in text else text

    def find_last_row_end(self, text: bytes) -> int:
        """Return the offset after the last line end outside quoted fields; 0 if there is none."""
        text = self._hide_escapes(text)
        last = text.rfind(b"\n") + 1
        if text.count(b'"', 0, last) % 2 == 0:
            return last
        return self.hide_line_ends(text).rfind(b"\n") + 1

    def find_unclosed(self, text: bytes) -> int | None:
        """Return the offset of the quotation mark whose field goes on to the end of the text; None if there is none."""
        text = self._hide_escapes(text)
        return next((field.start() for field in self._field.finditer(text) if not field[1]), None)

    def _hide_escapes(self, text: bytes) -> bytes:
        return _ESCAPED.sub(b"..", text) if self._has_escapes else text
