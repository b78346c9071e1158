"""Which indexes serve the conditions on a table, and why a condition on an indexed column is not served."""

from __future__ import annotations

from collections.abc import Iterator

from adql.ir import (
    Call,
    Column,
    Expr,
    InSubquery,
    Literal,
    NamedValues,
    Query,
    Scan,
    Select,
    split_conjuncts,
    walk_columns,
    walk_expr,
    walk_selects,
)
from adql.rewrite.filters.text_index_filters import MIN_PIECE
from clickhouse_schema.schema_model import Layout
from clickhouse_schema.table_ddl import name_projection

_SERVED = frozenset(("=", "IN", "<", "<=", ">", ">="))
_INDEXED = frozenset(("INDEXED TEXT", "HAS INDEXED WORDS"))
_MAX_PATTERN = 30


def describe_index_use(scan: Scan, select: Select) -> str:
    """Describe in a phrase how rows of a table are found, other than by cells; '' if all rows are read."""
    conditions = _find_own_conditions(scan, select)
    notes = []
    if key := _find_key(scan, conditions):
        is_id = key == scan.entry.table.layout.id[: len(key)]
        notes.append("by id" if is_id else f"look-up by index {', '.join(key)}")
    searched = dict.fromkeys(name for condition in conditions for name in _list_searched(condition))
    notes += [f"words of {name} by its text index" for name in searched]
    return ", ".join(notes)


def explain_unserved(scan: Scan, select: Select) -> Iterator[str]:
    """Yield a line of a plan for each indexed column whose condition no index serves, with the reason."""
    layout = scan.entry.table.layout
    conditions = _find_own_conditions(scan, select)
    key = _find_key(scan, conditions)
    searched = {name for condition in conditions for name in _list_searched(condition)}
    explained = set(key)
    for condition in conditions:
        for name in dict.fromkeys(
            column.name for column in walk_columns(condition) if column.relation == scan.relation
        ):
            if name in explained:
                continue
            reason = ""
            if name in layout.text_columns and name not in searched:
                reason = _explain_text(condition, name)
            elif not key:
                reason = _explain_values(layout, condition, name)
            if reason:
                explained.add(name)
                yield f"no index for {reason}"


def _find_own_conditions(scan: Scan, select: Select) -> list[Expr]:
    return [
        part
        for part in split_conjuncts(select.where)
        if any(column.relation == scan.relation for column in walk_columns(part))
    ]


def choose_projection(query: Query) -> str:
    """Return the name of the only projection that should be read to find rows; '' to leave the choice to the engine.

    The engine reads each projection that has a column of a condition, even if that is not its first column.
    """
    if not (isinstance(query, Select) and isinstance(query.from_, Scan)) or len([*walk_selects(query)]) > 1:
        return ""
    table = query.from_.entry.table
    conditions = _find_own_conditions(query.from_, query)
    key = _find_key(query.from_, conditions)
    named = {column.name for condition in conditions for column in walk_columns(condition)}
    if not key or any(columns[0] in named and columns[0] not in key for columns in table.layout.sorted_columns):
        return ""
    return name_projection(table, next(c for c in table.layout.sorted_columns if c[: len(key)] == key))


# --- served conditions ------------------------------------------------------------------------------------------------


def _find_key(scan: Scan, conditions: list[Expr]) -> tuple[str, ...]:
    """Return the columns that are looked up by equal values: all of the id, or the longest prefix of an index."""
    fixed = {name for condition in conditions if (name := _name_fixed(condition, scan.relation))}
    layout = scan.entry.table.layout
    if layout.id and fixed.issuperset(layout.id):
        return layout.id
    found: tuple[str, ...] = ()
    for columns in layout.sorted_columns:
        count = next((i for i, name in enumerate(columns) if name not in fixed), len(columns))
        if count > len(found):
            found = columns[:count]
    return found


def _name_fixed(condition: Expr, relation: int) -> str:
    """Return the name of the column whose values a condition lists; '' for other conditions."""
    if isinstance(condition, Call) and condition.name == "OR":
        names = {_name_fixed(part, relation) for part in condition.args}
        return names.pop() if len(names) == 1 else ""
    if isinstance(condition, InSubquery):
        column = condition.operand
    else:
        named = NamedValues.match_constants(condition)
        if named is None:
            return ""
        column = named.column
    return column.name if isinstance(column, Column) and column.relation == relation else ""


def _list_searched(condition: Expr) -> Iterator[str]:
    """Yield the names of the columns that a condition searches by text indexes."""
    for part in walk_expr(condition):
        if isinstance(part, Call) and part.name in _INDEXED and isinstance(part.args[0], Column):
            yield part.args[0].name


# --- conditions that are not served -----------------------------------------------------------------------------------


def _explain_text(condition: Expr, name: str) -> str:
    word = condition.name if isinstance(condition, Call) else ""
    if word == "NOT":
        return f"NOT on {name}: a text index finds rows that have a word"
    if word == "OR":
        return f"{name} under OR: it serves only if a text index serves each part"
    if not isinstance(condition, Call) or word not in ("LIKE", "ILIKE"):
        return f"this condition on {name}: a text index serves LIKE, ILIKE, =, IN and functions of words"
    pattern = condition.args[1]
    if not isinstance(pattern, Literal):
        return f"{word} on {name}: its pattern differs from row to row"
    text = str(pattern.value)
    shown = text if len(text) <= _MAX_PATTERN else text[:_MAX_PATTERN] + "..."
    return f"{name} {word} '{shown}': a text index finds pieces of at least {MIN_PIECE} letters A to Z and digits"


def _explain_values(layout: Layout, condition: Expr, name: str) -> str:
    keys = [columns for columns in layout.sorted_columns if name in columns]
    if not keys:
        return ""
    leading = next((columns for columns in keys if columns[0] == name), None)
    if leading is None:
        return f"{name} alone: its index begins with {keys[0][0]}"
    operands = condition.args if isinstance(condition, Call) and condition.name in _SERVED else ()
    if any(isinstance(operand, Column) and operand.name == name for operand in operands):
        return ""  # the engine uses the index for a narrow range, and for values of the other table
    return f"this condition on {name}: an index serves =, IN and ranges of the column itself"
