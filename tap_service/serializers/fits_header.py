"""Headers of FITS files (FITS 4.0, chapter 4): cards of 80 characters in blocks of 2880."""

from __future__ import annotations

from collections.abc import Mapping

BLOCK = 2880

_CARD = 80
#: characters between the quotes of a card, one of which says that it goes on
_ROOM = 67

#: a value in a header; texts are ASCII without control characters
Card = str | int | bool


def write_fits_header(cards: Mapping[str, Card]) -> bytes:
    """The cards in their order, with END and to the end of the block."""
    lines = "".join(line.ljust(_CARD) for key, value in cards.items() for line in _card_lines(key, value))
    whole = lines + "END".ljust(_CARD)
    return (whole + " " * (-len(whole) % BLOCK)).encode("ascii")


def _card_lines(key: str, value: Card) -> list[str]:
    if isinstance(value, str):
        first, *more = _split_text(value)
        return [f"{key:8}= {first}", *(f"CONTINUE  {piece}" for piece in more)]
    shown = ("T" if value else "F") if isinstance(value, bool) else str(value)
    return [f"{key:8}= {shown:>20}"]


def _split_text(value: str) -> list[str]:
    """The text in quotes; a long one in several, each of which but the last ends with &, as section 4.2.1.2 says."""
    pieces, piece = [], ""
    for character in value.replace("'", "\0"):
        quoted = "''" if character == "\0" else character
        if len(piece) + len(quoted) > _ROOM:
            pieces.append(f"'{piece}&'")
            piece = ""
        piece += quoted
    return [*pieces, f"'{piece:8}'"]
