"""The parser's place in the token list, what every production does with it, and how it complains."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import NoReturn

from adql.errors import AdqlSyntaxError, Hint, Span, line_and_column, printable
from adql.syntax.hints import token_hints
from adql.syntax.lexer import END, NAME, NUMBER, STRING, WORD, tokenise
from adql.syntax.nodes import Identifier
from clickhouse_schema.reserved_words import RESERVED

MAX_INTEGER_DIGITS = 18
"""Of the numbers after TOP and OFFSET, so that they fit 64 bits."""

MAX_DEPTH = 100
"""Brackets, prefix operators and CASEs open at one place; a subquery counts as SUBQUERY_LEVELS."""

MAX_HEIGHT = 200
"""Levels of an expression's tree, or of the joins or set operations of a query. Each operator of a chain read from the
left (a - b - c) is a level. Chains of AND, OR, ||, &, ^ and | become balanced trees, so their length does not count.
Both bounds keep every pass over the tree within Python's own recursion limit."""

SUBQUERY_LEVELS = 3

_new_span: Callable[[tuple[int, int]], Span] = partial(tuple.__new__, Span)  # half the time of Span(start, end)


class Cursor:
    """Tokens with a position ``at``.

    ``depth`` counts the levels open at ``at``; ``height`` is that of the tallest tree read so far in the present scope,
    which is an expression, a chain of joins or one of set operations.
    """

    def __init__(self, text: str, functions: Collection[str] | None) -> None:
        self.text = text
        self.functions = functions
        self.kinds, self.texts, self.starts, self.ends = tokenise(text)
        self.at = 0
        self.depth = 0
        self.height = 0

    # --- reading ---

    def span_from(self, first: int) -> Span:
        """From token ``first`` to the token read last."""
        return _new_span((self.starts[first], self.ends[self.at - 1]))

    def span_at(self, at: int) -> Span:
        return _new_span((self.starts[at], self.ends[at]))

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

    def open(self, levels: int = 1, said: str = "") -> int:
        """Read a ``(``; the place of it, for ``close``."""
        opening = self.at
        self.expect("(", said)
        self.enter(levels)
        return opening

    def close(self, opening: int, levels: int = 1) -> None:
        """Read the bracket that closes the one at ``opening``; what it held is now ``levels`` deeper in the tree."""
        closing = "]" if self.kinds[opening] == "[" else ")"
        if self.kinds[self.at] != closing:
            line, column = line_and_column(self.text, self.starts[opening])
            self.fail(f"{closing} to close the {self.kinds[opening]} at line {line}, column {column}")
        self.at += 1
        self.leave(levels)

    def is_word(self, word: str, at: int) -> bool:
        """Whether token ``at`` is this word, one that is not reserved."""
        return self.kinds[at] == WORD and self.texts[at].upper() == word

    def identifier(self, said: str) -> Identifier:
        """A name; ``said`` says of what."""
        at = self.at
        kind = self.kinds[at]
        text = self.texts[at]
        if kind == WORD:
            self.at = at + 1
            return Identifier(self.span_at(at), text, False)
        if kind == NAME:
            self.at = at + 1
            if text == '""':
                raise AdqlSyntaxError('a quoted name is empty: ""', self.span_at(at))
            return Identifier(self.span_at(at), text[1:-1].replace('""', '"'), True)
        self.fail(said)

    def unsigned_integer(self, said: str) -> int:
        digits = self.texts[self.at]
        if self.kinds[self.at] != NUMBER or not digits.isdecimal():
            self.fail(said)
        if len(digits) > MAX_INTEGER_DIGITS:
            raise AdqlSyntaxError(f"{said} has at most {MAX_INTEGER_DIGITS} digits", self.span_at(self.at))
        self.at += 1
        return int(digits)

    # --- levels ---

    def enter(self, levels: int = 1) -> None:
        self.depth += levels
        if self.depth > MAX_DEPTH:
            raise self.too_deep()

    def leave(self, levels: int = 1) -> None:
        self.depth -= levels
        self.grow(levels)

    def grow(self, levels: int = 1) -> None:
        """Put what was read in this scope below ``levels`` new ones."""
        self.height += levels
        if self.height > MAX_HEIGHT:
            raise self.too_deep()

    def too_deep(self) -> AdqlSyntaxError:
        return AdqlSyntaxError(
            f"the query is nested too deeply: at most {MAX_DEPTH} brackets in one another (a subquery counts as"
            f" {SUBQUERY_LEVELS}), at most {MAX_HEIGHT} operators in a chain",
            self.span_at(self.at),
            "split a long chain with parentheses; chains of AND, OR and || have no limit",
        )

    # --- complaining ---

    def found(self) -> str:
        """The next token in words."""
        kind = self.kinds[self.at]
        text = printable(self.texts[self.at])
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
        """Say what was expected here, what was found, and the way out if the slip is a known one."""
        raise AdqlSyntaxError(
            f"expected {expected}, found {self.found()}",
            self.span_at(self.at),
            hint or token_hints.slip(self, expected),
        )
