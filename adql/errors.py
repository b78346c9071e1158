"""Errors of the translator, each with its position in the query.

AdqlError                the query cannot be answered; the message is for its author
├── AdqlSyntaxError      the text is not ADQL (lexer, parser)
├── AdqlSemanticError    a wrong name, type or value (resolver, rewrite passes)
│   └── FormError        a misplaced function, or a wrong number of arguments or columns
├── AdqlUnsupported      valid ADQL that Skyhouse does not translate; the hint has an alternative
└── AdqlErrors           several errors in one query
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range [start, end) of character offsets in the query."""

    start: int
    end: int

    def extend_to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of ``other``."""
        return Span(self.start, max(self.end, other.end))


NOWHERE = Span(0, 0)


def join_choices(words: Sequence[str]) -> str:
    """Join words for a message: "A", "A or B", "A, B or C"."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


class Fix(NamedTuple):
    """A change of the query: ``text`` replaces the characters at ``span``."""

    span: Span
    text: str


class Hint(NamedTuple):
    """How to correct an error, and the fixes that apply the correction where it is certain."""

    text: str
    fixes: tuple[Fix, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text)


NO_HINT = Hint("")


def offset_to_line_column(text: str, offset: int) -> tuple[int, int]:
    """Convert a character offset to a line and a column.

    Parameters
    ----------
    text
        The query.
    offset
        Number of characters before the position.

    Returns
    -------
    tuple[int, int]
        Line and column, both from 1.
    """
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


class AdqlError(Exception):
    """One error in a query.

    Attributes
    ----------
    message
        What is wrong.
    span
        The characters of the query that the message is about.
    hint
        How to correct it; may be empty.
    fixes
        The changes that together apply the hint, in the order of the text, without overlaps; often empty.
    """

    def __init__(self, message: str, span: Span = NOWHERE, hint: str | Hint = "") -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint, self.fixes = hint if isinstance(hint, Hint) else Hint(hint)

    def describe(self, text: str) -> str:
        """Format the error for a terminal.

        Parameters
        ----------
        text
            The query.

        Returns
        -------
        str
            ``line L, column C: message (hint)``, the line of the query, and carets below the span.
        """
        line, column = offset_to_line_column(text, self.span.start)
        report = f"line {line}, column {column}: {self.message}"
        if self.hint:
            report += f" ({self.hint})"
        return report + "\n" + _format_excerpt(text, self.span, column)


class AdqlSyntaxError(AdqlError):
    """The text does not follow the grammar."""


class AdqlSemanticError(AdqlError):
    """A name is unknown or ambiguous, a type does not fit, or a value is out of range."""


class FormError(AdqlSemanticError):
    """A wrong number of arguments or columns, or a misplaced function; an error for values of any type."""


class AdqlUnsupported(AdqlError):
    """Valid ADQL that this version does not translate."""


class AdqlErrors(AdqlError):
    """Several errors in one query (``errors``), with the message and position of the first."""

    def __init__(self, errors: Sequence[AdqlError]) -> None:
        first = errors[0]
        super().__init__(first.message, first.span, Hint(first.hint, first.fixes))
        self.errors = tuple(errors)

    def __reduce__(self) -> tuple[type[AdqlErrors], tuple[tuple[AdqlError, ...]]]:
        return AdqlErrors, (self.errors,)

    def describe(self, text: str) -> str:
        return "\n".join(error.describe(text) for error in self.errors)


def make_printable(text: str, width: int = 40) -> str:
    """Prepare a user's text for a message.

    Parameters
    ----------
    text
        Any text.
    width
        Maximum number of characters; longer text is cut.

    Returns
    -------
    str
        The text without unprintable characters; a single character outside ASCII is followed by its code point.
    """
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
    line = text[begin : begin + first + _EXCERPT_WIDTH].split("\n")[0]
    source = line.replace("\t", " ").rstrip("\r")
    width = max(1, min(span.end - span.start, len(source) - (column - 1)))
    shown = _replace_unprintable(source[first:])
    width = max(1, min(width, _EXCERPT_WIDTH - (column - 1 - first)))
    return f"  {shown}\n  {' ' * (column - 1 - first)}{'^' * width}"
