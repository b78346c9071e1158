"""Errors for characters that cannot start a token, with hints and fixes for the probable intention."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from adql.errors import NO_HINT, AdqlSyntaxError, Fix, Hint, Span, make_printable
from adql.syntax.hints.angle_notations import find_angle_around
from clickhouse_schema.reserved_words import name_to_adql

BLANKS = " \t\r\n"

_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u00b4"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"
_SPACES = "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
_PARAMETERS = "ADQL has no parameters or variables: write the value itself"

#: Characters, their hint and their replacement
_REPLACEMENTS: tuple[tuple[str, str, str], ...] = (
    (_DOUBLE_QUOTES, "typographic quotes: use straight quotes, \" for names and ' for text", '"'),
    (_SINGLE_QUOTES, "typographic quotes: use straight quotes, '", "'"),
    ("\u2010\u2011\u2012\u2013\u2014\u2212", "a typographic dash: use the minus sign, -", "-"),
    ("\u00d7\u22c5\u00b7", "multiplication is *", "*"),
    ("\u00f7", "division is /", "/"),
    ("\u2264", "write <=", "<="),
    ("\u2265", "write >=", ">="),
    ("\u2260", "write <>", "<>"),
    (_SPACES, "type a plain space", " "),
    (_INVISIBLE, "an invisible character: delete it", ""),
    ("\uff0c", "type a plain comma", ","),
    ("#", "a comment begins with --", "--"),
    ("\N{DEGREE SIGN}", "angles are in degrees, without the degree sign", ""),
)
_HINTS = {
    "`": 'put names in double quotes: "name"',
    "%": "for the remainder, write MOD(a, b)",
    "!": "'not' is NOT, write 'not equal' as <> or !=",
    "{": f"{_PARAMETERS}; write a list in parentheses",
    **dict.fromkeys("$@?:}", _PARAMETERS),
    "\\": "a backslash is allowed only inside quotes, where it is an ordinary character",
}
_UNDERSCORED = re.compile(r"_[0-9A-Za-z_]*")
_TOP = re.compile(r"\bTOP\s+(\d+)\s*$", re.IGNORECASE)
_BACKTICKED = re.compile(r"`([^`\n]+)`")
_IN = re.compile(r"\bIN\s*$", re.IGNORECASE)


def make_illegal_character_error(text: str, parts: Sequence[str], borders: Sequence[int]) -> AdqlSyntaxError:
    """Return the error for the first character that is neither blank nor in a token.

    Parameters
    ----------
    text
        The query.
    parts
        Alternately, the text between two tokens and a token.
    borders
        The offset at which each part ends.
    """
    start = next(_find_illegal_offsets(parts, borders))
    character = text[start]
    here = Span(start, start + 1)
    angle = find_angle_around(text, start) if start and not text[start - 1].isspace() else None
    if character == "'":
        hint = "close it with '; inside a string, write a quote twice: ''"
        if angle:
            hint += f"; {angle[1].hint}"
        return AdqlSyntaxError("this string is not closed", here, hint)
    if angle:
        span, found = angle
        return AdqlSyntaxError(
            f"{make_printable(text[span.start : span.end])} is not a number", span, found.make_hint(span)
        )
    if character == '"':
        return AdqlSyntaxError("this quoted name is not closed", here, 'close it with "')
    if run := _UNDERSCORED.match(text, start):
        span, name = Span(*run.span()), f'"{run[0]}"'
        hint = f'a name that begins with _ must be put in double quotes: "{make_printable(run[0])}"'
        return AdqlSyntaxError(f"unexpected {make_printable(run[0])}", span, Hint(hint, (Fix(span, name),)))
    if text.startswith("::", start):
        return AdqlSyntaxError("unexpected ::", Span(start, start + 2), "convert a value with CAST(value AS type)")
    return AdqlSyntaxError(
        f"unexpected character {make_printable(character)}", here, _find_character_hint(text, start, parts, borders)
    )


def _find_illegal_offsets(parts: Sequence[str], borders: Sequence[int]) -> Iterator[int]:
    """Yield the offsets of all characters that are neither blank nor in a token."""
    for gap, end in zip(parts[::2], borders[::2], strict=True):
        if gap.strip(BLANKS):
            yield from (end - len(gap) + at for at, character in enumerate(gap) if character not in BLANKS)


def _find_character_hint(text: str, start: int, parts: Sequence[str], borders: Sequence[int]) -> Hint:
    character = text[start]
    for characters, hint, replacement in _REPLACEMENTS:
        if character in characters:
            alike = [at for at in _find_illegal_offsets(parts, borders) if text[at] in characters]
            return Hint(hint, tuple(Fix(Span(at, at + 1), replacement) for at in alike))
    if character in _RULES and (special := _RULES[character](text, start)):
        return special
    if character in _HINTS:
        return Hint(_HINTS[character])
    if not character.isalpha():
        return NO_HINT
    word = next(word for word in re.finditer(r"\w+", text) if start < word.end())
    hint = "a name with letters other than a to z must be put in double quotes"
    return Hint(hint, (Fix(Span(*word.span()), f'"{word[0]}"'),))


def _hint_backticks(text: str, start: int) -> Hint:
    names = _BACKTICKED.finditer(text, start)
    return Hint(_HINTS["`"], tuple(Fix(Span(*name.span()), name_to_adql(name[1])) for name in names))


def _hint_percent(text: str, start: int) -> Hint:
    top = _TOP.search(text, 0, start)
    if not top:
        return NO_HINT
    return Hint(f"TOP takes a number of rows; for a percentage, write TABLESAMPLE ({top[1]}) after the table")


def _hint_exclamation(text: str, start: int) -> Hint:
    equal = re.compile(r"!\s*=").match(text, start)
    return Hint(_HINTS["!"], (Fix(Span(*equal.span()), "<>"),)) if equal else NO_HINT


def _hint_brace(text: str, start: int) -> Hint:
    end = text.find("}", start)
    if end < 0 or not _IN.search(text, 0, start):
        return NO_HINT
    braces = (Fix(Span(start, start + 1), "("), Fix(Span(end, end + 1), ")"))
    return Hint("IN takes a list in parentheses: IN (1, 2)", braces)


_RULES: dict[str, Callable[[str, int], Hint]] = {
    "`": _hint_backticks,
    "%": _hint_percent,
    "!": _hint_exclamation,
    "{": _hint_brace,
}
