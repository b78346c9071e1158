"""The header of an HDU (FITS standard 4.0, section 4).

A value is parsed on demand, so that errors in cards that no reader of tables needs, which are frequent, do not matter.
FITS allows only ASCII; texts in UTF-8 or Latin-1, which some programs write, are accepted.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from tap_service.readers.read_error import ReadError

CARD_BYTES = 80

#: the text of a card between its quotation marks, in which two marks stand for one
_TEXT = re.compile(rb" *'((?:[^']|'')*)'")

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([EeDd][-+]?[0-9]+)?")
_LOGICAL = {"T": True, "F": False}


class Header:
    """The keywords of a header, each with its first value.

    Parameters
    ----------
    cards : bytes
        The cards, up to END.
    path : Path
        The file, for messages.
    """

    def __init__(self, cards: bytes, path: Path) -> None:
        self.path = path
        self._cards: dict[str, list[bytes]] = {}
        last: list[bytes] = []
        for at in range(0, len(cards), CARD_BYTES):
            keyword, value = _split_card(cards[at : at + CARD_BYTES])
            if keyword == "CONTINUE":
                last.append(value)
            elif keyword:
                last = [value]
                self._cards.setdefault(keyword, last)

    def __contains__(self, keyword: str) -> bool:
        return keyword in self._cards

    def get(self, keyword: str, default: Any = None) -> Any:
        """Return a value: an integer, a float, a boolean or a text; ``default`` if it is missing or undefined."""
        pieces = self._cards.get(keyword)
        value = None if pieces is None else _parse_value(pieces)
        return default if value is None else value

    def read_text(self, keyword: str) -> str:
        """Return a value as text without surrounding blanks; '' if there is none."""
        value = self.get(keyword, "")
        return str(value).strip() if not isinstance(value, bool) else "FT"[value]

    def read_comment(self, keyword: str) -> str:
        """Return the comment of a text; '' if there is none."""
        pieces = self._cards.get(keyword, [])
        text = _TEXT.match(pieces[-1]) if pieces else None
        return _decode(pieces[-1][text.end() :].partition(b"/")[2]).strip() if text else ""

    def read_integer(self, keyword: str, default: int | None = None, low: int = 0, high: int = 1 << 62) -> int:
        """Return an integer. Raise ``ReadError`` if it has no default and is missing, or is out of range."""
        value = self.get(keyword, default)
        if type(value) is not int or not low <= value <= high:
            raise ReadError(f"{self.path} has a header whose {keyword} is not a number from {low} to {high}")
        return value

    def read_number(self, keyword: str, default: int) -> int | float:
        """Return a finite number, as an integer if it is one, in any form: 32768, 32768.0 or 3.2768D4.

        Raises
        ------
        ReadError
            The value is not such a number.
        """
        value = self.get(keyword, default)
        number = value if type(value) is int else _parse_float(str(value))
        if not math.isfinite(number):
            raise ReadError(f"{self.path} has a header whose {keyword} is not a number: {value}")
        return int(number) if number == int(number) else number


def _split_card(card: bytes) -> tuple[str, bytes]:
    """Return the keyword and the text after the value indicator; '' for a comment."""
    if card.startswith(b"HIERARCH "):
        name, indicator, value = card[9:].partition(b"=")
        return (_decode(b" ".join(name.split())), value) if indicator else ("", b"")
    if card.startswith(b"CONTINUE  "):
        return "CONTINUE", card[8:]
    return (_decode(card[:8].rstrip()), card[9:]) if card[8:9] == b"=" else ("", b"")


def _parse_value(pieces: list[bytes]) -> Any:
    """Return the value of a card and of the cards that continue it; None if it is undefined."""
    texts = [found[1] for piece in pieces if (found := _TEXT.match(piece))]
    if texts and _TEXT.match(pieces[0]):
        continued = [text.rstrip().removesuffix(b"&") for text in texts[:-1]]
        return _decode(b"".join([*continued, texts[-1]]).replace(b"''", b"'")).rstrip()
    bare = _decode(pieces[0].partition(b"/")[0]).strip()
    if bare in _LOGICAL:
        return _LOGICAL[bare]
    if _INTEGER.fullmatch(bare):
        return int(bare)
    if _FLOAT.fullmatch(bare):
        return float(bare.upper().replace("D", "E"))
    return bare or None


def _parse_float(text: str) -> float:
    """Return the number in a text, NaN if it is not one."""
    return float(text) if _FLOAT.fullmatch(text) else math.nan


def _decode(value: bytes) -> str:
    """Return the text, with blanks for control characters, which must not reach a terminal."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    return "".join(character if character.isprintable() else " " for character in text)
