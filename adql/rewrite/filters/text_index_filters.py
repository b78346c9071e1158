"""Write conditions of WHERE on a column with a text index so that the engine can use the index.

    comment LIKE '%uriously%'          like(text, '%uriously%'), for which the index suffices
    comment LIKE '%foxes nag%'         like(text, '%foxes%') AND comment LIKE '%foxes nag%'
    1 = ivo_hasword(comment, 'fox')    the row has the words of 'fox', for which the index suffices
    comment = 'final foxes'            the row has the words of 'final foxes' AND comment = 'final foxes'

``text`` is the expression of the index, which is '' for NULL: unknown and false have the same effect in conjuncts of
WHERE and in OR between them. Conditions below NOT and in CASE are not changed. If the index does not suffice for a
condition, the condition is kept together with a filter that it implies.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from adql.ir import Call, Column, Expr, Literal, Select, TranslationContext, combine_conditions, split_conjuncts
from adql.node_classes import replace
from adql.rewrite.filters.condition_pushdown import find_origins
from adql.rewrite.trees.relation_trees import Leaf, collect_leaves
from clickhouse_schema.datatypes import BOOLEAN, UNICODE

#: Minimum length of a piece. Many words have shorter pieces, and the engine searches the texts for these
#: (text_index_like_min_pattern_length).
MIN_PIECE = 4

#: Maximum number of pieces of a pattern that are looked up in the index, the longest ones
_MAX_PIECES = 4

#: Maximum number of values of an IN, each of which is looked up by its words
_MAX_VALUES = 8

TEXT_CONDITIONS = ("LIKE", "ILIKE", "HAS WORDS", "HASHLIST HAS", "=", "IN")

#: Letters that equal other letters in the regular expressions of ILIKE, or after LOWER: U+212A (Kelvin) in lower case
#: is k, U+0130 is i and a dot, and U+017F is s if case is ignored
_AMBIGUOUS = {"ILIKE": "ks", "LOWER": "ki", "LIKE": ""}


def use_text_indexes(select: Select, context: TranslationContext) -> Select:  # noqa: ARG001  every pass has this signature
    """Rewrite or extend the conditions of WHERE on texts so that they use text indexes.

    Returns the same SELECT if no condition can use one.
    """
    leaves = collect_leaves(select.from_)
    conjuncts = split_conjuncts(select.where)
    served = [_serve(part, leaves) or part for part in conjuncts]
    if all(new is old for new, old in zip(served, conjuncts, strict=True)):
        return select
    return replace(select, where=combine_conditions("AND", [c for part in served for c in split_conjuncts(part)]))


def _serve(condition: Expr, leaves: dict[int, Leaf]) -> Expr | None:
    """Return the condition in a form that uses a text index; None if no index serves it."""
    if not isinstance(condition, Call):
        return None
    if condition.name in ("AND", "OR"):
        parts = [_serve(part, leaves) for part in condition.args]
        needed = (
            any if condition.name == "AND" else all
        )  # a part of OR that reads all rows makes the other parts useless
        if not needed(part is not None for part in parts):
            return None
        chosen = (new or old for new, old in zip(parts, condition.args, strict=True))
        return replace(condition, args=tuple(chosen))
    serve = _SERVERS.get(condition.name)
    if serve is None or not condition.args:
        return None
    operand, *others = condition.args
    if condition.name == "=" and isinstance(operand, Literal):
        operand, others = others[0], [operand]
    texts = [item.value for item in others if isinstance(item, Literal) and isinstance(item.value, str)]
    column, change = _read_operand(operand)
    if len(texts) < len(others) or column is None or not _has_text_index(column, leaves):
        return None
    return serve(condition, column, change, texts)


def _read_operand(operand: Expr) -> tuple[Column | None, str]:
    """Return the column in ``column``, ``LOWER(column)`` or ``UPPER(column)``, and the function's name."""
    change = ""
    if isinstance(operand, Call) and operand.name in ("LOWER", "UPPER"):
        change, [operand] = operand.name, operand.args
    return (operand, change) if isinstance(operand, Column) else (None, "")


def _has_text_index(column: Column, leaves: dict[int, Leaf]) -> bool:
    origins = [*find_origins(leaves.get(column.relation), (column.name,))]
    return bool(origins) and all(names[0] in scan.entry.table.layout.text_columns for scan, names in origins)


# --- patterns ---------------------------------------------------------------------------------------------------------


def _serve_pattern(condition: Call, column: Column, change: str, texts: list[str]) -> Expr | None:
    """Serve LIKE and ILIKE by the pieces of words that the pattern has between wildcards and separators."""
    [pattern] = texts
    is_ascii = column.type.datatype == "char"
    if (change == "LOWER" and pattern != pattern.lower()) or (change == "UPPER" and pattern != pattern.upper()):
        return None  # never true
    if change == "UPPER" and not is_ascii:
        return None  # ß becomes SS
    name = "ILIKE" if change else condition.name
    rule = change if change == "LOWER" else name
    piece = pattern[1:-1]
    if pattern == f"%{piece}%" and _is_piece(piece, "" if is_ascii or not change else _AMBIGUOUS[rule]):
        return _find_piece(condition, name, column, piece)
    ambiguous = "" if is_ascii else _AMBIGUOUS[rule]
    pieces = sorted(filter(_is_piece, _split_pattern(pattern, ambiguous)), key=len, reverse=True)[:_MAX_PIECES]
    filters = [_find_piece(condition, name, column, piece) for piece in dict.fromkeys(pieces)]
    return combine_conditions("AND", [*filters, condition]) if filters else None


def _is_piece(text: str, ambiguous: str = "") -> bool:
    is_word = len(text) >= MIN_PIECE and text.isascii() and text.isalnum()
    return is_word and not any(letter in text.lower() for letter in ambiguous)


def _split_pattern(pattern: str, ambiguous: str) -> list[str]:
    return re.split(f"[^A-Za-z0-9]+|[{ambiguous}{ambiguous.upper()}]" if ambiguous else "[^A-Za-z0-9]+", pattern)


def _find_piece(condition: Call, name: str, column: Column, piece: str) -> Expr:
    text = Call(UNICODE, "INDEXED TEXT", (column,))
    return Call(BOOLEAN, name, (text, Literal(UNICODE, f"%{piece}%")), span=condition.span)


# --- words ------------------------------------------------------------------------------------------------------------


def _serve_words(condition: Call, column: Column, change: str, texts: list[str]) -> Expr | None:
    """Serve ``ivo_hasword`` by the words in the index."""
    return None if change or not _has_words(texts[0]) else _find_words(condition, column, texts[0])


def _serve_item(condition: Call, column: Column, change: str, texts: list[str]) -> Expr | None:
    """Serve ``ivo_hashlist_has``: the index has the words of an item, because # separates words."""
    if change or not _has_words(texts[0]):
        return None
    return combine_conditions("AND", [_find_words(condition, column, texts[0]), condition])


def _serve_values(condition: Call, column: Column, change: str, texts: list[str]) -> Expr | None:
    """Serve ``=`` and IN by words, because equal texts have the same words."""
    if len(texts) > _MAX_VALUES or not all(map(_has_words, texts)) or change == "UPPER":
        return None
    words = combine_conditions("OR", [_find_words(condition, column, text) for text in texts])
    return combine_conditions("AND", [words, condition])


def _has_words(text: str) -> bool:
    """Return whether a text certainly has a word; for a text without words, all rows would match."""
    return re.search("[A-Za-z0-9]", text) is not None


def _find_words(condition: Call, column: Column, text: str) -> Expr:
    return Call(BOOLEAN, "HAS INDEXED WORDS", (column, Literal(UNICODE, text)), span=condition.span)


_SERVERS: dict[str, Callable[[Call, Column, str, list[str]], Expr | None]] = {
    "LIKE": _serve_pattern,
    "ILIKE": _serve_pattern,
    "HAS WORDS": _serve_words,
    "HASHLIST HAS": _serve_item,
    "=": _serve_values,
    "IN": _serve_values,
}
