"""Text functions of ADQL, RegTAP and DaCHS."""

from __future__ import annotations

from collections.abc import Callable

from adql.errors import Span
from adql.functions.function import MAX_PATTERN_CHARACTERS, Expand, Function, Parameter
from adql.ir import Call, Expr
from clickhouse_schema.datatypes import BOOLEAN, INT, UNICODE
from clickhouse_schema.text_index_sql import words_sql

STRING_FUNCTIONS = (
    Function("LOWER", (Parameter("s", "text"),), UNICODE, "lowerUTF8({0})", "s in lower case"),
    Function("UPPER", (Parameter("s", "text"),), UNICODE, "upperUTF8({0})", "s in upper case"),
)


def make_predicate_expansion(condition: str) -> Expand:
    """Return the expansion of a call to 1 or 0 by an internal condition; ``1 = f(...)`` becomes the condition."""

    def expand(args: tuple[Expr, ...], span: Span) -> Expr:
        return Call(INT, "0 OR 1", (Call(BOOLEAN, condition, args, span=span),), span=span)

    return expand


_LONG_PATTERN = f"a regular expression has at most {MAX_PATTERN_CHARACTERS} characters"


def _has_words_sql(haystack: str, needle: str) -> str:
    found = f"hasAll({words_sql(haystack)}, {words_sql(needle)})"
    return f"if(isNull({haystack}) OR isNull({needle}), NULL, {found})"


def _has_item_sql(hashlist: str, item: str) -> str:
    """Return the SQL of the condition, which is never true for an item with a hash sign."""
    found = f"has(splitByChar('#', lowerUTF8({hashlist})), lowerUTF8({item}))"
    return f"if(isNull({hashlist}) OR isNull({item}), NULL, {found})"


def _match_sql(pattern: str, text: str) -> str:
    """Return the SQL of the match; the length of a literal pattern is checked when it is bound."""
    if not pattern.startswith("'"):
        guard = f"throwIf(lengthUTF8({pattern}) > {MAX_PATTERN_CHARACTERS}, '{_LONG_PATTERN}')"
        pattern = f"concat({pattern}, if({guard} = 0, '', ''))"
    return f"match({text}, {pattern})"


def _make_predicate(name: str, parameters: tuple[str, str], condition: str, description: str) -> Function:
    texts = tuple(Parameter(parameter, "text", "TEXT") for parameter in parameters)
    return Function(name, texts, INT, "", description, returns="INTEGER", expand=make_predicate_expansion(condition))


_PATTERN = (Parameter("pattern", "pattern", "TEXT"), Parameter("string", "text", "TEXT"))

TEXT_FUNCTIONS = (
    _make_predicate("ivo_nocasematch", ("value", "pattern"), "ILIKE",
                    "1 if value ILIKE pattern, with the wildcards % and _; 0 otherwise."),
    _make_predicate("ivo_hasword", ("haystack", "needle"), "HAS WORDS",
                    "1 if haystack has all words of needle, in any order and case; 0 otherwise. A word is a run of "
                    "letters and digits; there is no stemming."),
    _make_predicate("ivo_hashlist_has", ("hashlist", "item"), "HASHLIST HAS",
                    "1 if item is one of the words of hashlist, which are separated by #, without regard to case; 0 "
                    "otherwise."),
    Function("gavo_match", _PATTERN, INT, "",
             "1 if the regular expression pattern (RE2) matches a part of string; 0 otherwise.",
             returns="INTEGER", expand=make_predicate_expansion("MATCH")),
)  # fmt: skip

#: The internal conditions of these functions
TEXT_CONDITION_SQL: dict[str, str | Callable[..., str]] = {
    "HAS WORDS": _has_words_sql,
    "HASHLIST HAS": _has_item_sql,
    "MATCH": _match_sql,
}
