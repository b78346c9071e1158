"""The quoted fields of delimited text: delimiters and line ends inside them are part of a value.

A quotation mark that does not start a field (``5" disc``) has no effect.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

_LINE_END = b"\n"
_QUOTE = ord('"')


class QuotedFields:
    """Finds the quoted fields of texts, which start at the start of a row.

    Parameters
    ----------
    delimiter : str
        The character between fields; a blank stands for tabs, too.
    comment : str
        The character that starts a comment line; '' for none.
    has_escapes : bool
        Whether a quotation mark after a backslash belongs to the value.
    """

    def __init__(self, delimiter: str, comment: str = "", *, has_escapes: bool = False) -> None:
        characters = " \t" if delimiter == " " else delimiter
        marks = re.escape(characters)
        plain, pair = (r'[^"\\]', r'(?:""|\\.)') if has_escapes else ('[^"]', '""')
        field = rf'(?:\A|(?<=[\n{marks}]))"{plain}*(?:{pair}{plain}*)*("|\\?\Z)'
        skipped = rf"(?m:^){re.escape(comment)}[^\n]*|" if comment else ""
        self._is_edge = np.zeros(256, bool)
        self._is_edge[[*f'\n\r"{characters}'.encode()]] = True
        self._fields = re.compile((skipped + field).encode(), re.DOTALL)
        self._has_escapes = has_escapes

    def find_last_row_end(self, text: bytes) -> int:
        """Return the offset after the last line end outside quoted fields; 0 if there is none."""
        last = text.rfind(_LINE_END) + 1
        if b'"' not in text or self._is_regular(text[:last]):
            return last
        return self.join_rows(text).rfind(_LINE_END) + 1

    def find_open_field(self, text: bytes) -> int | None:
        """Return the offset of a quotation mark that starts a field and is not closed; None if all are closed."""
        if b'"' not in text:
            return None
        open_ = (found.start() for found in self._fields.finditer(text) if found[1] not in (b'"', None))
        return next(open_, None)

    def join_rows(self, text: bytes) -> bytes:
        """Return the text with blanks instead of line ends inside quoted fields."""
        return self._fields.sub(lambda found: found[0].replace(_LINE_END, b" "), text)

    def find_quoted(self, text: bytes) -> npt.NDArray[np.bool_]:
        """Return, for each byte, whether it is in a quoted field; its closing quotation mark may count as outside."""
        characters = np.frombuffer(text, np.uint8)
        if self._is_regular(text):
            return (np.cumsum(characters == _QUOTE, dtype=np.uint8) & 1).astype(bool)
        is_quoted = np.zeros(len(characters), bool)
        for found in self._fields.finditer(text):
            if found[1] is not None:
                is_quoted[found.start() : found.end()] = True
        return is_quoted

    def _is_regular(self, text: bytes) -> bool:
        """Return whether quotation marks alternately start and end fields."""
        characters = np.frombuffer(b"\n" + text + b"\n", np.uint8)
        marks_at = np.flatnonzero(characters == _QUOTE)
        if self._has_escapes or len(marks_at) % 2:
            return False
        outside = np.concatenate((characters[marks_at[::2] - 1], characters[marks_at[1::2] + 1]))
        return bool(self._is_edge[outside].all())
