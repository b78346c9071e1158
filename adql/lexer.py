"""ADQL text to tokens. One compiled expression reads them all; what it cannot read is an AdqlSyntaxError with a hint.

Regular identifiers and keywords are ASCII; any character but the control ones may stand in strings, delimited
identifiers and comments. A backslash is an ordinary character.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from adql.errors import AdqlSyntaxError, Span, printable
from adql.words import RESERVED

MAX_CHARACTERS = 1_000_000
MAX_TOKENS = 200_000

WORD = "word"  # a regular identifier
NAME = "name"  # a delimited identifier
NUMBER = "number"
STRING = "string"
END = "end"


class Tokens(NamedTuple):
    """Parallel lists, one entry a token; the last token is END.

    A kind is one of the constants above, a reserved word in upper case, or an operator as written.
    """

    kinds: list[str]
    starts: list[int]
    ends: list[int]


_TOKEN = re.compile(
    r"""
    (?: [ \t\r\n]++ | --[^\r\n]*+ )*+                                             # blanks and comments before a token
    (?:
        ( [A-Za-z][A-Za-z0-9_]*+ )
      | ( <> | != | <= | >= | \|\| | \.(?![0-9]) | [-+*/(),=<>&|^~\[\];] )
      | ( (?: 0[xX][0-9A-Fa-f]++ | (?: [0-9]++ (?: \.[0-9]*+ )? | \.[0-9]++ ) (?: [eE][+-]?[0-9]++ )? )
          (?![A-Za-z0-9_]) )
      | ( '(?: [^']++ | '' )*+' )
      | ( "(?: [^"]++ | "" )*+" )
      | ( \Z )
      | ( . )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_IS_WORD, _IS_NUMBER, _IS_STRING, _IS_NAME, _IS_END, _IS_UNREADABLE = 1, 3, 4, 5, 6, 7
_KINDS = ("", "", "", NUMBER, STRING, NAME, END)
_KEYWORDS = {word: word for word in RESERVED} | {word.lower(): word for word in RESERVED}

_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def tokenise(text: str) -> Tokens:
    """The tokens of a query; AdqlSyntaxError for what is none."""
    if len(text) > MAX_CHARACTERS:
        raise AdqlSyntaxError(
            f"the query has {len(text)} characters; at most {MAX_CHARACTERS} are read",
            hint="upload long lists as a table and join it",
        )
    if forbidden := _FORBIDDEN.search(text):
        raise AdqlSyntaxError(
            f"character {printable(forbidden[0])} is not allowed in a query",
            Span(*forbidden.span()),
            "control characters other than tab and line end are never part of a query",
        )
    kinds: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _TOKEN.finditer(text):
        group = match.lastindex or 0
        start, end = match.span(group)
        if group == _IS_WORD:
            word = match[1]
            kinds.append(_KEYWORDS.get(word) or _KEYWORDS.get(word.upper(), WORD))
        elif group >= _IS_NUMBER:
            if group == _IS_UNREADABLE:
                raise _unreadable(text, start)
            kinds.append(_KINDS[group])
        else:
            kinds.append(match[2])
        starts.append(start)
        ends.append(end)
        if group == _IS_END:
            break
    if len(kinds) > MAX_TOKENS:
        raise AdqlSyntaxError(
            f"the query has more than {MAX_TOKENS} words and symbols",
            Span(starts[MAX_TOKENS], ends[MAX_TOKENS]),
            "upload long lists as a table and join it",
        )
    return Tokens(kinds, starts, ends)


# --- what cannot be read ----------------------------------------------------------------------------------------------

_RUN = re.compile(r"[0-9A-Za-z_.]+")

_UNREADABLE: tuple[tuple[str, str], ...] = (
    ("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", 'typographic quotes: type the straight ones, " for names, \' for text'),
    ("\u2018\u2019\u201a\u201b\u2032\u00b4", "typographic quotes: type the straight one, '"),
    ("\u2010\u2011\u2012\u2013\u2014\u2212", "a typographic dash: type the minus sign, -"),
    ("\u00d7\u22c5\u00b7", "multiplication is *"),
    ("\u00f7", "division is /"),
    ("\u2264", "type <="),
    ("\u2265", "type >="),
    ("\u2260", "type <>"),
    ("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", "type a plain space"),
    ("\u200b\u200c\u200d\u2060\ufeff", "an invisible character: delete it"),
    ("`", 'names are quoted with double quotes: "name"'),
    ("%", "the remainder is MOD(a, b)"),
    ("!", "'not' is NOT, 'unequal' is <> or !="),
    ("_", 'a name that begins with _ must be put in double quotes: "_name"'),
    ("$@?:{}", "ADQL has no parameters or variables: write the value itself"),
    ("#", "a comment begins with --"),
    ("\\", "a backslash has a meaning only inside quotes, where it stands for itself"),
)
_HINTS = {character: hint for characters, hint in _UNREADABLE for character in characters}


def _unreadable(text: str, start: int) -> AdqlSyntaxError:
    character = text[start]
    here = Span(start, start + 1)
    if character == "'":
        return AdqlSyntaxError(
            "this string is not closed", here, "close it with '; a quote inside a string is written twice: ''"
        )
    if character == '"':
        return AdqlSyntaxError("this quoted name is not closed", here, 'close it with "')
    if run := _RUN.match(text, start):
        found = printable(run[0])
        if character.isdigit() or character == ".":
            return AdqlSyntaxError(
                f"{found} is neither a number nor a name",
                Span(*run.span()),
                "leave a space after a number; a name that begins with a digit must be put in double quotes",
            )
        return AdqlSyntaxError(f"unexpected {found}", Span(*run.span()), _HINTS[character])
    if text.startswith("::", start):
        return AdqlSyntaxError("unexpected ::", Span(start, start + 2), "conversion is CAST(value AS type)")
    hint = _HINTS.get(character, "")
    if not hint and character.isalpha():
        hint = "a name with letters other than a to z must be put in double quotes"
    return AdqlSyntaxError(f"unexpected character {printable(character)}", here, hint)
