"""The parser's position in the tokens: reading, bounds on nesting, and syntax errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import NoReturn

from adql.errors import AdqlSyntaxError, Hint, Span, make_printable, offset_to_line_column
from adql.limits import MAX_DEPTH, MAX_HEIGHT
from adql.syntax.hints import token_hints
from adql.syntax.lexer import tokenise
from adql.syntax.nodes import Expression, Identifier, Query
from adql.syntax.token_kinds import END, NAME, NUMBER, STRING, WORD
from clickhouse_schema.reserved_words import RESERVED

MAX_INTEGER_DIGITS = 18
"""Limit for the numbers after TOP and OFFSET, which must fit into 64 bits."""

SUBQUERY_LEVELS = 3
"""Levels of nesting that a subquery counts as."""

_new_span: Callable[[tuple[int, int]], Span] = partial(tuple.__new__, Span)  # half the time of Span(start, end)


class Cursor:
    """The tokens of a query and the parser's position in them.

    Parameters
    ----------
    text
        The query.
    functions
        The known function names in lower case; None to accept any name.
    operands
        Kind of a token -> the production that reads an operand that starts with it.
    parse_query
        The production that reads a select expression. Its second argument is the first operand if it is already read.

    Attributes
    ----------
    at
        The index of the next token.
    depth
        The number of levels that are open at this token.
    height
        The height of the tallest tree read so far in the current scope: an expression, a chain of joins or a chain of
        set operations.
    operands, parse_query
        Through these, a module of productions calls the modules above it.
    """

    __slots__ = (
        "at", "depth", "ends", "functions", "height", "kinds", "operands", "parse_query", "starts", "text", "texts",
    )  # fmt: skip

    def __init__(
        self,
        text: str,
        functions: Collection[str] | None,
        operands: Mapping[str, Callable[[Cursor], Expression]],
        parse_query: Callable[[Cursor, Query | None], Query],
    ) -> None:
        self.text = text
        self.functions = functions
        self.operands = operands
        self.parse_query = parse_query
        self.kinds, self.texts, self.starts, self.ends = tokenise(text)
        self.at = 0
        self.depth = 0
        self.height = 0

    # --- reading ---

    def span_from(self, first: int) -> Span:
        """Return the span from token ``first`` to the last token read."""
        return _new_span((self.starts[first], self.ends[self.at - 1]))

    def span_at(self, at: int) -> Span:
        return _new_span((self.starts[at], self.ends[at]))

    def take(self, kind: str) -> bool:
        """Read the next token if it is of this kind, and return whether it is."""
        if self.kinds[self.at] == kind:
            self.at += 1
            return True
        return False

    def expect(self, kind: str, expected: str = "") -> None:
        if self.kinds[self.at] != kind:
            self.fail(expected or kind)
        self.at += 1

    def open_bracket(self, levels: int = 1, expected: str = "") -> int:
        """Read a ``(`` and return its index, for ``close_bracket``."""
        opening = self.at
        self.expect("(", expected)
        self.enter_levels(levels)
        return opening

    def close_bracket(self, opening: int, levels: int = 1) -> None:
        """Read the bracket that closes the bracket at ``opening``, whose content adds ``levels`` to the tree."""
        closing = "]" if self.kinds[opening] == "[" else ")"
        if self.kinds[self.at] != closing:
            line, column = offset_to_line_column(self.text, self.starts[opening])
            self.fail(f"{closing} to close the {self.kinds[opening]} at line {line}, column {column}")
        self.at += 1
        self.leave_levels(levels)

    def is_word(self, word: str, at: int) -> bool:
        """Return whether token ``at`` is the unreserved ``word``, given in upper case."""
        return self.kinds[at] == WORD and self.texts[at].upper() == word

    def read_identifier(self, expected: str) -> Identifier:
        """Read a name; ``expected`` describes it in the error."""
        at = self.at
        kind = self.kinds[at]
        text = self.texts[at]
        if kind == WORD:
            self.at = at + 1
            return Identifier(_new_span((self.starts[at], self.ends[at])), text, False)
        if kind == NAME:
            self.at = at + 1
            if text == '""':
                raise AdqlSyntaxError('a quoted name is empty: ""', self.span_at(at))
            return Identifier(self.span_at(at), text[1:-1].replace('""', '"'), True)
        self.fail(expected)

    def read_unsigned_integer(self, expected: str) -> int:
        digits = self.texts[self.at]
        if self.kinds[self.at] != NUMBER or not digits.isdecimal():
            self.fail(expected)
        if len(digits) > MAX_INTEGER_DIGITS:
            raise AdqlSyntaxError(f"{expected} has at most {MAX_INTEGER_DIGITS} digits", self.span_at(self.at))
        self.at += 1
        return int(digits)

    # --- levels ---

    def enter_levels(self, levels: int = 1) -> None:
        self.depth += levels
        if self.depth > MAX_DEPTH:
            raise self.make_depth_error()

    def leave_levels(self, levels: int = 1) -> None:
        self.depth -= levels
        self.add_height(levels)

    def add_height(self, levels: int = 1) -> None:
        """Add ``levels`` to the height of the tree that is read in this scope."""
        self.height += levels
        if self.height > MAX_HEIGHT:
            raise self.make_depth_error()

    def make_depth_error(self) -> AdqlSyntaxError:
        return AdqlSyntaxError(
            f"the query is nested too deeply: at most {MAX_DEPTH} nested brackets (a subquery counts as"
            f" {SUBQUERY_LEVELS}), at most {MAX_HEIGHT} operators in a chain",
            self.span_at(self.at),
            "split a long chain with parentheses; chains of AND, OR and || have no limit",
        )

    # --- errors ---

    def describe_token(self) -> str:
        """Describe the next token for an error."""
        kind = self.kinds[self.at]
        text = make_printable(self.texts[self.at])
        if kind == END:
            return "the end of the query"
        if kind == STRING:
            return f"the string {text}"
        if kind == NAME:
            return f"the name {text}"
        if kind in RESERVED:
            return f"the reserved word {text}"
        return text

    def fail(self, expected: str, hint: str | Hint = "") -> NoReturn:
        """Raise the syntax error for the next token, with ``hint`` or else the hint for a known mistake."""
        raise AdqlSyntaxError(
            f"expected {expected}, found {self.describe_token()}",
            self.span_at(self.at),
            hint or token_hints.find_token_hint(self, expected),
        )
