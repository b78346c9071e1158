"""Productions of windows: OVER (PARTITION BY ... ORDER BY ... frame)."""

from __future__ import annotations

from adql.errors import AdqlSyntaxError, join_choices
from adql.syntax.cursor import Cursor
from adql.syntax.expression_grammar import parse_order_by, parse_values
from adql.syntax.nodes import Expression, Frame, Window
from adql.syntax.token_kinds import NUMBER

_BOUNDS = ("UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING")
_EXPECTED_BOUND = "UNBOUNDED PRECEDING, n PRECEDING, CURRENT ROW, n FOLLOWING or UNBOUNDED FOLLOWING"


def parse_window(cursor: Cursor) -> Window:
    """Read ``OVER (...)``."""
    first = cursor.at
    cursor.at += 1
    opening = cursor.open_bracket()
    partition: tuple[Expression, ...] = ()
    if cursor.is_word("PARTITION", cursor.at):
        cursor.at += 1
        cursor.expect("BY", "BY after PARTITION")
        partition = parse_values(cursor)
    order = parse_order_by(cursor)
    frame = _parse_frame(cursor) if cursor.kinds[cursor.at] == "ROWS" or cursor.is_word("RANGE", cursor.at) else None
    cursor.close_bracket(opening)
    return Window(cursor.span_from(first), partition, order, frame)


def _parse_frame(cursor: Cursor) -> Frame:
    first = cursor.at
    unit = cursor.texts[first].upper()
    cursor.at += 1
    if cursor.take("BETWEEN"):
        start = _parse_frame_bound(cursor)
        cursor.expect("AND", "AND between the two bounds of the frame")
        end = _parse_frame_bound(cursor)
    else:
        start, end = _parse_frame_bound(cursor), ("CURRENT ROW", None)
    span = cursor.span_from(first)
    first_bound, last_bound = _BOUNDS.index(start[0]), _BOUNDS.index(end[0])
    if first_bound == len(_BOUNDS) - 1 or last_bound == 0 or first_bound > last_bound:
        raise AdqlSyntaxError("the frame ends before it starts", span)
    return Frame(span, unit, start, end)


def _parse_frame_bound(cursor: Cursor) -> tuple[str, int | None]:
    if cursor.take("CURRENT"):
        _expect_word(cursor, "ROW")
        return "CURRENT ROW", None
    if cursor.is_word("UNBOUNDED", cursor.at):
        cursor.at += 1
        return f"UNBOUNDED {_expect_word(cursor, 'PRECEDING', 'FOLLOWING')}", None
    if cursor.kinds[cursor.at] == NUMBER and not cursor.texts[cursor.at].isdecimal():
        cursor.fail(
            _EXPECTED_BOUND,
            "n must be a whole number: scale the ORDER BY expression, ORDER BY x * 10 RANGE 5 PRECEDING",
        )
    number = cursor.read_unsigned_integer(_EXPECTED_BOUND)
    return _expect_word(cursor, "PRECEDING", "FOLLOWING"), number


def _expect_word(cursor: Cursor, *words: str) -> str:
    for word in words:
        if cursor.is_word(word, cursor.at):
            cursor.at += 1
            return word
    cursor.fail(join_choices(words))
