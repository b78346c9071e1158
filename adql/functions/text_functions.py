"""Functions of texts: ADQL's own, and those that RegTAP and DaCHS have brought into use."""

from __future__ import annotations

from collections.abc import Callable

from adql.errors import Span
from adql.functions.function import MOST_OF_A_PATTERN, Expand, Function, Parameter
from adql.ir import Call, Expr
from clickhouse_schema.datatypes import BOOLEAN, INT, UNICODE

STRING = (
    Function("LOWER", (Parameter("s", "text"),), UNICODE, "lowerUTF8({0})", "lower case"),
    Function("UPPER", (Parameter("s", "text"),), UNICODE, "upperUTF8({0})", "upper case"),
)


def as_number(condition: str) -> Expand:
    """1 or 0 of the named condition on the arguments; ``1 = f(...)`` is the condition itself."""

    def expand(args: tuple[Expr, ...], span: Span) -> Expr:
        return Call(INT, "0 OR 1", (Call(BOOLEAN, condition, args, span=span),), span=span)

    return expand


_LONG_PATTERN = f"a regular expression has at most {MOST_OF_A_PATTERN} characters"

#: A word is a run of letters and digits, in any script.
_WORDS = "extractAll(lowerUTF8({}), '[\\\\p{{L}}\\\\p{{N}}]+')"


def _has_words(haystack: str, needle: str) -> str:
    found = f"hasAll({_WORDS.format(haystack)}, {_WORDS.format(needle)})"
    return f"if(isNull({haystack}) OR isNull({needle}), NULL, {found})"


def _listed(hashlist: str, item: str) -> str:
    """An item with a hash sign is never in the list of what lies between them."""
    found = f"has(splitByChar('#', lowerUTF8({hashlist})), lowerUTF8({item}))"
    return f"if(isNull({hashlist}) OR isNull({item}), NULL, {found})"


def _matches(pattern: str, text: str) -> str:
    """Literals are known not to be too long."""
    if not pattern.startswith("'"):
        guard = f"throwIf(lengthUTF8({pattern}) > {MOST_OF_A_PATTERN}, '{_LONG_PATTERN}')"
        pattern = f"concat({pattern}, if({guard} = 0, '', ''))"
    return f"match({text}, {pattern})"


def _two_texts(name: str, first: Parameter, second: Parameter, condition: str, description: str) -> Function:
    return Function(name, (first, second), INT, "", description, returns="INTEGER", expand=as_number(condition))


def _text(name: str, kind: str = "text") -> Parameter:
    return Parameter(name, kind, "TEXT")


TEXTS = (
    _two_texts("ivo_nocasematch", _text("value"), _text("pattern"), "ILIKE",
               "1 if value ILIKE pattern, whose wildcards are % and _; 0 otherwise."),
    _two_texts("ivo_hasword", _text("haystack"), _text("needle"), "HAS WORDS",
               "1 if all words of needle are words of haystack, in any order and case; 0 otherwise. Words are runs of "
               "letters and digits; there is no stemming."),
    _two_texts("ivo_hashlist_has", _text("hashlist"), _text("item"), "HASHLIST HAS",
               "1 if item is one of the words of hashlist, which are separated by #, in any case; 0 otherwise."),
    _two_texts("gavo_match", _text("pattern", "pattern"), _text("string"), "MATCH",
               "1 if the regular expression pattern (RE2) matches anything in string; 0 otherwise."),
)  # fmt: skip

#: The conditions that these stand for
CONDITIONS: dict[str, str | Callable[..., str]] = {
    "HAS WORDS": _has_words,
    "HASHLIST HAS": _listed,
    "MATCH": _matches,
}
