"""The lexer. One regular expression finds all tokens; any other text is an AdqlSyntaxError with a hint.

Regular identifiers and keywords are ASCII. Strings, delimited identifiers and comments may contain any character except
control characters. A backslash is an ordinary character.
"""

from __future__ import annotations

import math
import re
from itertools import accumulate, compress
from typing import NamedTuple

from adql.errors import AdqlSyntaxError, Fix, Hint, Span, make_printable
from adql.limits import MAX_CHARACTERS, MAX_TOKENS
from adql.syntax.hints.angle_notations import find_angle_at
from adql.syntax.hints.illegal_characters import BLANKS, make_illegal_character_error
from adql.syntax.token_kinds import COMMENT, END, NAME, NUMBER, STRING, WORD
from clickhouse_schema.reserved_words import RESERVED

MAX_DIGITS = 400

_FOR_LONG_LISTS = "upload long lists as a table and join it"


class Tokens(NamedTuple):
    """Parallel lists with one entry for each token; the last token is END.

    Attributes
    ----------
    kinds
        Each is one of ``token_kinds``, a reserved word in upper case, or an operator as written.
    texts
        The tokens as written.
    starts, ends
        Character offsets.
    """

    kinds: list[str]
    texts: list[str]
    starts: list[int]
    ends: list[int]


# A number includes the letters and digits that follow it, so that 10abc is one malformed token instead of two.
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
    """Split a query into tokens.

    Raises
    ------
    AdqlSyntaxError
        If the query is too long, or has characters that are not part of a token.
    """
    if len(text) > MAX_CHARACTERS:
        raise AdqlSyntaxError(
            f"the query has {len(text)} characters; at most {MAX_CHARACTERS} are allowed", hint=_FOR_LONG_LISTS
        )
    if forbidden := _FORBIDDEN.search(text):
        raise AdqlSyntaxError(
            f"character {make_printable(forbidden[0])} is not allowed in a query",
            Span(*forbidden.span()),
            "delete control characters other than tabs and line ends",
        )
    parts = _TOKEN.split(text)  # alternately the text between tokens, and a token
    borders = list(accumulate(map(len, parts)))
    if "".join(parts[::2]).strip(BLANKS):
        raise make_illegal_character_error(text, parts, borders)
    texts, starts, ends = parts[1::2], borders[:-1:2], borders[1::2]
    kind_of, kind_by_first = _KINDS.get, _KINDS_BY_FIRST
    kinds = [kind_of(token) or kind_of(token.upper()) or kind_by_first[token[0]] for token in texts]
    if COMMENT in kinds:
        kept = [kind is not COMMENT for kind in kinds]
        texts = list(compress(texts, kept))
        starts = list(compress(starts, kept))
        ends = list(compress(ends, kept))
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


def token_to_number(text: str, span: Span, query: str = "") -> int | float:
    """Convert a number token to an int if it has only digits or is hexadecimal, else to a float.

    Parameters
    ----------
    text
        The token.
    span
        Its position in ``query``.
    query
        The query. With it, the error for a malformed number considers the text after the token, such as the rest of an
        angle.

    Raises
    ------
    AdqlSyntaxError
        If the token is malformed, too long or too large.
    """
    if len(text) > MAX_DIGITS:
        raise AdqlSyntaxError(f"this number has more than {MAX_DIGITS} characters", span)
    try:
        if "_" in text:
            raise ValueError
        if text.isdecimal():
            return int(text)
        value = int(text, 16) if text[:2] in ("0x", "0X") else float(text)
    except ValueError:
        raise _make_number_error(text, span, query) from None
    if math.isinf(value):
        raise AdqlSyntaxError("this number is too large: the greatest is about 1.8e308", span)
    return value


_GROUPED = re.compile(r"\d{1,3}(_\d{3})+")


def _make_number_error(text: str, span: Span, query: str) -> AdqlSyntaxError:
    """Return the error for a token that begins with a digit but is not a number."""
    message = f"{make_printable(text)} is neither a number nor a name"
    found = find_angle_at(query, span.start) if query else find_angle_at(text, 0)
    if found:
        of_angle = Span(span.start, found.end if query else span.start + found.end)
        return AdqlSyntaxError(f"{make_printable(text)} is not a number", of_angle, found.make_hint(of_angle))
    if _GROUPED.fullmatch(text):
        hint = Hint("write the digits without separators", (Fix(span, text.replace("_", "")),))
        return AdqlSyntaxError(message, span, hint)
    hint = Hint("leave a space after a number; a name that begins with a digit must be put in double quotes")
    return AdqlSyntaxError(message, span, hint)
