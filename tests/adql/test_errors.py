from __future__ import annotations

import pytest

from adql.errors import AdqlErrors, AdqlSemanticError, AdqlSyntaxError, Span, make_printable, offset_to_line_column


@pytest.mark.parametrize(("offset", "position"), [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (7, (3, 2))])
def test_line_and_column(offset: int, position: tuple[int, int]) -> None:
    assert offset_to_line_column("ab\ncd\nef", offset) == position


def test_describe_points_at_the_text() -> None:
    error = AdqlSyntaxError("no such thing", Span(10, 13), "write another")
    assert error.describe("SELECT\n\ta, bcd\nFROM t").split("\n") == [
        "line 2, column 4: no such thing (write another)",
        "   a, bcd",
        "     ^^^",
    ]


def test_caret_stays_within_its_line() -> None:
    assert AdqlSyntaxError("x", Span(2, 9)).describe("a bc\r\nd e f").split("\n")[1:] == ["  a bc", "    ^^"]
    assert AdqlSyntaxError("x", Span(3, 3)).describe("abc").split("\n")[1:] == ["  abc", "     ^"]


def test_long_lines_are_cut_around_the_position() -> None:
    text = "x" * 5000 + "HERE" + "y" * 5000
    shown, caret = AdqlSyntaxError("x", Span(5000, 5004)).describe(text).split("\n")[1:]
    assert len(shown) == 102
    assert shown[caret.index("^") : caret.index("^") + 4] == "HERE"
    assert caret.count("^") == 4


def test_excerpts_are_printable() -> None:
    text = "SELECT \0\x1b\ud800\N{NO-BREAK SPACE}x"
    shown = AdqlSyntaxError("x", Span(7, 8)).describe(text)
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert shown.split("\n")[1].endswith("x")


@pytest.mark.parametrize(
    ("text", "said"),
    [("a", "a"), ("ö", "ö (U+00F6)"), ("\0", "U+0000"), ("\xa0", "U+00A0"), ("a" * 50, "a" * 37 + "...")],
)
def test_printable(text: str, said: str) -> None:
    assert make_printable(text) == said


def test_several_errors_are_described_together() -> None:
    errors = [AdqlSemanticError("one", Span(0, 1)), AdqlSemanticError("two", Span(2, 3))]
    together = AdqlErrors(errors)
    assert together.span == Span(0, 1)
    assert together.describe("a b").split("\n")[::3] == ["line 1, column 1: one", "line 1, column 3: two"]
