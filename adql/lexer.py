"""ADQL text to tokens. One compiled expression reads them all; what it cannot read is an AdqlSyntaxError with a hint.

Regular identifiers and keywords are ASCII; any character but the control ones may stand in strings, delimited
identifiers and comments. A backslash is an ordinary character.
"""

from __future__ import annotations

import math
import re
from itertools import accumulate, compress
from typing import NamedTuple

from adql.errors import AdqlSyntaxError, Span, printable
from clickhouse_schema.words import RESERVED

MAX_CHARACTERS = 1_000_000
MAX_TOKENS = 200_000
MAX_DIGITS = 400

WORD = "word"  # a regular identifier
NAME = "name"  # a delimited identifier
NUMBER = "number"
STRING = "string"
COMMENT = "comment"
END = "end"


class Tokens(NamedTuple):
    """Parallel lists, one entry a token; the last token is END.

    A kind is one of the constants above, a reserved word in upper case, or an operator as written.
    ``starts`` and ``ends`` are character offsets.
    """

    kinds: list[str]
    texts: list[str]
    starts: list[int]
    ends: list[int]


# A number takes along what is glued to it, so that 10abc is one malformed token and never two.
_TOKEN = re.compile(
    r"""
    ( [A-Za-z][A-Za-z0-9_]*+
    | [,()=*+/]
    | 0[xX][0-9A-Za-z_.]*+
    | \.?[0-9] (?: [eE][+-][0-9] | [0-9A-Za-z_.] )*+
    | --[^\r\n]*+
    | <> | != | <= | >= | \|\| | [-.<>&|^~\[\];]
    | '(?: [^']++ | '' )*+'
    | "(?: [^"]++ | "" )*+"
    )
    """,
    re.VERBOSE,
)
_BLANKS = " \t\r\n"
_OPERATORS = ("<>", "!=", "<=", ">=", "||", *"-+*/(),.=<>&|^~[];")
_KINDS = {word: word for word in (*RESERVED, *_OPERATORS)} | {word.lower(): word for word in RESERVED}
_KINDS_BY_FIRST = {
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", WORD),
    **dict.fromkeys("0123456789.", NUMBER),
    "'": STRING,
    '"': NAME,
    "-": COMMENT,
}
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def tokenise(text: str) -> Tokens:
    """The tokens of a query; AdqlSyntaxError for what is none."""
    if len(text) > MAX_CHARACTERS:
        raise AdqlSyntaxError(
            f"the query has {len(text)} characters; at most {MAX_CHARACTERS} are read", hint=_FOR_LONG_LISTS
        )
    if forbidden := _FORBIDDEN.search(text):
        raise AdqlSyntaxError(
            f"character {printable(forbidden[0])} is not allowed in a query",
            Span(*forbidden.span()),
            "control characters other than tab and line end are never part of a query",
        )
    parts = _TOKEN.split(text)  # what is between the tokens, and the tokens, by turns
    borders = list(accumulate(map(len, parts)))
    if "".join(parts[::2]).strip(_BLANKS):
        raise _unreadable(text, parts, borders)
    texts, starts, ends = parts[1::2], borders[:-1:2], borders[1::2]
    kind_of, kind_by_first = _KINDS.get, _KINDS_BY_FIRST
    kinds = [kind_of(token) or kind_of(token.upper()) or kind_by_first[token[0]] for token in texts]
    if COMMENT in kinds:
        kept = [kind is not COMMENT for kind in kinds]
        texts, starts, ends = list(compress(texts, kept)), list(compress(starts, kept)), list(compress(ends, kept))
        kinds = list(compress(kinds, kept))
    if len(kinds) > MAX_TOKENS:
        raise AdqlSyntaxError(
            f"the query has more than {MAX_TOKENS} words and symbols",
            Span(starts[MAX_TOKENS], ends[MAX_TOKENS]),
            _FOR_LONG_LISTS,
        )
    end = ends[-1] if ends else 0
    kinds.append(END)
    texts.append("")
    starts.append(end)
    ends.append(end)
    return Tokens(kinds, texts, starts, ends)


def number_value(text: str, span: Span) -> int | float:
    """The value of a number token: an int for digits alone and for hex, else a float."""
    if len(text) > MAX_DIGITS:
        raise AdqlSyntaxError(f"this number has more than {MAX_DIGITS} characters", span)
    try:
        if "_" in text:
            raise ValueError
        if text.isdecimal():
            return int(text)
        value = int(text, 16) if text[:2] in ("0x", "0X") else float(text)
    except ValueError:
        raise AdqlSyntaxError(
            f"{printable(text)} is neither a number nor a name",
            span,
            "leave a space after a number; a name that begins with a digit must be put in double quotes",
        ) from None
    if math.isinf(value):
        raise AdqlSyntaxError("this number is too large: the greatest is about 1.8e308", span)
    return value


# --- what cannot be read ----------------------------------------------------------------------------------------------

_RUN = re.compile(r"_[0-9A-Za-z_]*")
_FOR_LONG_LISTS = "upload long lists as a table and join it"

_UNREADABLE: tuple[tuple[str, str], ...] = (
    ("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", "typographic quotes: type straight ones, \" for names, ' for text"),
    ("\u2018\u2019\u201a\u201b\u2032\u00b4", "typographic quotes: type the straight one, '"),
    ("\u2010\u2011\u2012\u2013\u2014\u2212", "a typographic dash: type the minus sign, -"),
    ("\u00d7\u22c5\u00b7", "multiplication is *"),
    ("\u00f7", "division is /"),
    ("\u2264", "type <="),
    ("\u2265", "type >="),
    ("\u2260", "type <>"),
    ("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", "type a plain space"),
    ("\u200b\u200c\u200d\u2060\ufeff", "an invisible character: delete it"),
    ("`", 'names are quoted with double quotes: "name"'),
    ("%", "the remainder is MOD(a, b)"),
    ("!", "'not' is NOT, 'unequal' is <> or !="),
    ("$@?:{}", "ADQL has no parameters or variables: write the value itself"),
    ("#", "a comment begins with --"),
    ("\\", "a backslash has a meaning only inside quotes, where it stands for itself"),
)
_HINTS = {character: hint for characters, hint in _UNREADABLE for character in characters}


def _unreadable(text: str, parts: list[str], borders: list[int]) -> AdqlSyntaxError:
    """The error for the first character that is neither blank nor in a token."""
    gaps = zip(parts[::2], borders[::2], strict=True)
    gap, border = next((gap, border) for gap, border in gaps if gap.strip(_BLANKS))
    start = border - len(gap.lstrip(_BLANKS))
    character = text[start]
    here = Span(start, start + 1)
    if character == "'":
        return AdqlSyntaxError(
            "this string is not closed", here, "close it with '; a quote inside a string is written twice: ''"
        )
    if character == '"':
        return AdqlSyntaxError("this quoted name is not closed", here, 'close it with "')
    if run := _RUN.match(text, start):
        hint = f'a name that begins with _ must be put in double quotes: "{printable(run[0])}"'
        return AdqlSyntaxError(f"unexpected {printable(run[0])}", Span(*run.span()), hint)
    if text.startswith("::", start):
        return AdqlSyntaxError("unexpected ::", Span(start, start + 2), "conversion is CAST(value AS type)")
    hint = _HINTS.get(character, "")
    if not hint and character.isalpha():
        hint = "a name with letters other than a to z must be put in double quotes"
    return AdqlSyntaxError(f"unexpected character {printable(character)}", here, hint)
