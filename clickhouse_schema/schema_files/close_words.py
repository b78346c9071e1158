"""Suggestions for misspelt words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggest_word(word: str, known: Iterable[str]) -> str:
    """Return ``: did you mean ...?`` with the closest known word; '' if none is close."""
    close = difflib.get_close_matches(word, [*known], 1)
    return f": did you mean {close[0]!r}?" if close else ""
