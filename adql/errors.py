"""Errors of the translator, each with the place in the query that it is about.

AdqlError                the text cannot be answered; the user reads it
├── AdqlSyntaxError      not ADQL (lexer, parser)
├── AdqlSemanticError    ADQL, but a name, type or value in it is wrong (resolver, rewrite passes)
│   └── FormError        a function where it cannot stand; too many or few arguments or columns
└── AdqlUnsupported      ADQL that Skyhouse does not answer yet, said with the way out
AdqlErrors               several AdqlError found in one query, reported together
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """Half-open range of character offsets [start, end) in the query text."""

    start: int
    end: int

    def extend_to(self, other: Span) -> Span:
        """The span from the start of this one to the end of ``other``."""
        return Span(self.start, max(self.end, other.end))


NOWHERE = Span(0, 0)


class Fix(NamedTuple):
    """A replacement in the query text: ``text`` in place of what is at ``span``."""

    span: Span
    text: str


class Hint(NamedTuple):
    """The way out in words, and the replacements that together do what it says, where it is that certain."""

    text: str
    fixes: tuple[Fix, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text)


NO_HINT = Hint("")


def offset_to_line_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of a character offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


class AdqlError(Exception):
    """One thing wrong with a query.

    ``message`` says what is wrong, ``hint`` the way out (may be empty), ``span`` where; ``fixes``, in the order of the
    text and apart from each other, are replacements that together do what the hint says (often there are none).
    """

    def __init__(self, message: str, span: Span = NOWHERE, hint: str | Hint = "") -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint, self.fixes = hint if isinstance(hint, Hint) else Hint(hint)

    def describe(self, text: str) -> str:
        """``line L, column C: message (hint)``, with the line of the query and a caret below it."""
        line, column = offset_to_line_column(text, self.span.start)
        said = f"line {line}, column {column}: {self.message}"
        if self.hint:
            said += f" ({self.hint})"
        return said + "\n" + _format_excerpt(text, self.span, column)


class AdqlSyntaxError(AdqlError):
    """The text is not in the grammar."""


class AdqlSemanticError(AdqlError):
    """A name is unknown or ambiguous, a type does not fit, or a value is out of range."""


class FormError(AdqlSemanticError):
    """A number of arguments or columns that does not fit, or a function that cannot stand here, whatever the types."""


class AdqlUnsupported(AdqlError):
    """Valid ADQL that this version does not translate."""


class AdqlErrors(AdqlError):
    """Several errors of one query; the first gives the position."""

    def __init__(self, errors: Sequence[AdqlError]) -> None:
        first = errors[0]
        super().__init__(first.message, first.span, Hint(first.hint, first.fixes))
        self.errors = tuple(errors)

    def describe(self, text: str) -> str:
        return "\n".join(error.describe(text) for error in self.errors)


def make_printable(text: str, width: int = 40) -> str:
    """``text`` as a message may show it: cut to ``width`` characters; a lone foreign one also by code point."""
    if len(text) == 1 and not "!" <= text <= "~":
        return f"{text} (U+{ord(text):04X})" if text.isprintable() and not text.isspace() else f"U+{ord(text):04X}"
    shown = text if len(text) <= width else text[: width - 3] + "..."
    return _replace_unprintable(shown)


def _replace_unprintable(text: str) -> str:
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


_EXCERPT_WIDTH = 100


def _format_excerpt(text: str, span: Span, column: int) -> str:
    begin = span.start - (column - 1)
    first = max(0, column - 1 - _EXCERPT_WIDTH // 2)
    source = text[begin : begin + first + _EXCERPT_WIDTH].split("\n")[0].replace("\t", " ").rstrip("\r")
    width = max(1, min(span.end - span.start, len(source) - (column - 1)))
    shown = _replace_unprintable(source[first:])
    width = max(1, min(width, _EXCERPT_WIDTH - (column - 1 - first)))
    return f"  {shown}\n  {' ' * (column - 1 - first)}{'^' * width}"
