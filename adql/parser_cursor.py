"""The parser's place in the token list, what every production does with it, and how it complains."""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

from adql import hints
from adql.errors import AdqlSyntaxError, Span, line_and_column, printable
from adql.lexer import END, NAME, NUMBER, STRING, WORD, tokenise
from adql.nodes import Identifier
from adql.words import RESERVED

MAX_DEPTH = 200
"""Levels of a syntax tree. Brackets, prefix operators and CASE are a level each, so is each operator of a chain that is
read from the left (a - b - c), and a subquery is SUBQUERY_LEVELS of them. Chains of AND, OR, ||, & and | become balanced
trees, so their length does not count. The bound keeps every later pass within Python's own recursion limit."""

SUBQUERY_LEVELS = 4


class Cursor:
    """Tokens with a position ``at``.

    ``depth`` counts the levels open at ``at``; ``height`` is the height of the tallest tree built in the expression now
    being read, which grows where a chain puts what was read before below a new operator.
    """

    def __init__(self, text: str, functions: Collection[str] | None) -> None:
        self.text = text
        self.functions = functions
        self.kinds, self.starts, self.ends = tokenise(text)
        self.at = 0
        self.depth = 0
        self.height = 0

    # --- reading ---

    def token_text(self, at: int) -> str:
        return self.text[self.starts[at] : self.ends[at]]

    def span_from(self, first: int) -> Span:
        """From token ``first`` to the token read last."""
        return Span(self.starts[first], self.ends[self.at - 1])

    def take(self, kind: str) -> bool:
        """Read a token of this kind, if it is the next."""
        if self.kinds[self.at] == kind:
            self.at += 1
            return True
        return False

    def expect(self, kind: str, said: str = "") -> None:
        if self.kinds[self.at] != kind:
            self.fail(said or kind)
        self.at += 1

    def close(self, opening: int, closing: str = ")") -> None:
        """Read the bracket that closes the one at token ``opening``."""
        if self.kinds[self.at] == closing:
            self.at += 1
            return
        line, column = line_and_column(self.text, self.starts[opening])
        bracket = self.kinds[opening]
        self.fail(f"{closing} to close the {bracket} at line {line}, column {column}")

    def is_word(self, word: str, at: int) -> bool:
        """Whether token ``at`` is this word, one that is not reserved."""
        return self.kinds[at] == WORD and self.token_text(at).upper() == word

    def identifier(self, said: str) -> Identifier:
        """A name; ``said`` says of what."""
        at = self.at
        kind = self.kinds[at]
        start = self.starts[at]
        end = self.ends[at]
        if kind == WORD:
            self.at = at + 1
            return Identifier(Span(start, end), self.text[start:end], False)
        if kind == NAME:
            self.at = at + 1
            if end - start == 2:
                raise AdqlSyntaxError('a quoted name is empty: ""', Span(start, end))
            return Identifier(Span(start, end), self.text[start + 1 : end - 1].replace('""', '"'), True)
        self.fail(said)

    def unsigned_integer(self, clause: str) -> int:
        """The whole number after TOP or OFFSET."""
        digits = self.token_text(self.at)
        if self.kinds[self.at] != NUMBER or not digits.isdecimal():
            self.fail(f"a whole number after {clause}")
        if len(digits) > 18:
            raise AdqlSyntaxError(f"the number after {clause} is too large", self.next_span())
        self.at += 1
        return int(digits)

    # --- levels ---

    def enter(self, levels: int = 1) -> None:
        """Open levels; whoever does so subtracts them from ``depth`` again."""
        self.depth += levels
        if self.depth > MAX_DEPTH:
            raise self.too_deep()

    def grow(self, levels: int = 1) -> None:
        """Put what was read so far below ``levels`` new ones."""
        self.height += levels
        if self.height > MAX_DEPTH:
            raise self.too_deep()

    def too_deep(self) -> AdqlSyntaxError:
        return AdqlSyntaxError(
            f"the query is nested too deeply: at most {MAX_DEPTH} levels are read",
            self.next_span(),
            f"a subquery counts as {SUBQUERY_LEVELS} levels, and so does each operator of a chain such as a + b + c;"
            " split a long chain with parentheses",
        )

    # --- complaining ---

    def next_span(self) -> Span:
        return Span(self.starts[self.at], self.ends[self.at])

    def found(self) -> str:
        """The next token in words."""
        kind = self.kinds[self.at]
        text = printable(self.token_text(self.at))
        if kind == END:
            return "the end of the query"
        if kind == STRING:
            return f"the string {text}"
        if kind == NAME:
            return f"the name {text}"
        if kind in RESERVED:
            return f"the reserved word {text}"
        return text

    def fail(self, expected: str, hint: str = "") -> NoReturn:
        """Say what was expected here, what was found, and the way out if the slip is a known one."""
        raise AdqlSyntaxError(
            f"expected {expected}, found {self.found()}", self.next_span(), hint or hints.slip(self, expected)
        )
