"""Headers of FITS files (FITS 4.0, chapter 4): cards of 80 characters in blocks of 2880."""

from __future__ import annotations

from collections.abc import Mapping

BLOCK_SIZE = 2880

_CARD_LENGTH = 80
#: number of characters between the quotes of a card, without the '&' that marks a continuation
_MAX_CARD_TEXT = 67

#: a header value; text is ASCII without control characters
Card = str | int | bool


def write_fits_header(cards: Mapping[str, Card]) -> bytes:
    """Write the cards in order, then END, padded to complete blocks."""
    lines = [line for key, value in cards.items() for line in _card_lines(key, value)]
    header = "".join(line.ljust(_CARD_LENGTH) for line in [*lines, "END"])
    return (header + " " * (-len(header) % BLOCK_SIZE)).encode("ascii")


def _card_lines(key: str, value: Card) -> list[str]:
    if isinstance(value, str):
        first, *more = _split_text(value)
        return [f"{key:8}= {first}", *(f"CONTINUE  {piece}" for piece in more)]
    shown = ("T" if value else "F") if isinstance(value, bool) else str(value)
    return [f"{key:8}= {shown:>20}"]


def _split_text(value: str) -> list[str]:
    """Quote text. Split long text into pieces, all of which but the last end with '&' (section 4.2.1.2)."""
    pieces, piece = [], ""
    for character in value.replace("'", "\0"):
        quoted = "''" if character == "\0" else character
        if len(piece) + len(quoted) > _MAX_CARD_TEXT:
            pieces.append(f"'{piece}&'")
            piece = ""
        piece += quoted
    return [*pieces, f"'{piece:8}'"]
