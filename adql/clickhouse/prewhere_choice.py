"""Whether conditions are written as WHERE or PREWHERE."""

from __future__ import annotations

from adql.ir import Call, Column, Expr, InCells, Literal, NamedValues, Relation, Scan, Within, walk_expr


def choose_filter_word(source: Relation, conditions: tuple[Expr, ...]) -> str:
    """Choose PREWHERE where ClickHouse would move every condition there: it plans the query in 0.5 ms less.

    That is a tenth of a cone or a look-up by id, a quarter of one by three texts. With other texts ClickHouse chooses
    itself: it reads small columns first.
    """
    if not isinstance(source, Scan) or source.part or source.entry.is_sharded or source.entry.is_computed:
        return "WHERE"
    keys = _find_looked_up(source, conditions)
    others = (condition for condition in conditions if _name_tested(condition) not in keys)
    return "PREWHERE" if all(map(_reads_numbers, others)) else "WHERE"


def _find_looked_up(scan: Scan, conditions: tuple[Expr, ...]) -> set[str]:
    """Return the columns of the ids and indexes of whose first column conditions name the values."""
    named = {_name_tested(condition) for condition in conditions}
    keys = (columns for columns in scan.entry.table.layout.sorted_columns if columns[0] in named)
    return {name for columns in keys for name in columns}


def _name_tested(condition: Expr) -> str:
    """Return the column whose values a condition names by literals; '' for other conditions."""
    named = NamedValues.match(condition)
    if named is None or not all(isinstance(value, Literal) for value in named.values):
        return ""
    return named.column.name


def _reads_numbers(condition: Expr) -> bool:
    return all(
        part.name in _NUMBER_TESTS if isinstance(part, Call) else isinstance(part, _NUMBERS) and not part.type.is_text
        for part in walk_expr(condition)
    )


_NUMBERS = (Column, Literal, InCells, Within)
_NUMBER_TESTS = frozenset(("=", "<>", "<", "<=", ">", ">=", "IN", "NEAR", "NEARER"))
