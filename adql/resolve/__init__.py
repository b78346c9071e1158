"""The resolver: a syntax tree becomes a bound query, with a column for each name and a type for each expression.

``query_binder`` binds SELECTs and set operations, ``from_binder`` FROM clauses, ``expression_binders`` lists the
functions that bind expressions, ``scope`` finds columns, ``type_rules`` has the rules for types.
"""

from __future__ import annotations

from adql.functions.object_name_functions import PositionLookup
from adql.ir import NameGenerator, Query
from adql.resolve.object_positions import ObjectPositions
from adql.resolve.query_binder import QueryBinder
from adql.resolve.resolution import Resolution
from adql.syntax import nodes
from clickhouse_schema.catalogue import Catalogue, TableEntry

__all__ = ["resolve_statement"]


def resolve_statement(
    statement: nodes.Statement, catalogue: Catalogue, fresh: NameGenerator, positions: PositionLookup | None = None
) -> tuple[Query, tuple[TableEntry, ...]]:
    """Bind a statement to the tables of a catalogue.

    Parameters
    ----------
    statement
        The syntax tree of the query.
    catalogue
        The tables that may be queried.
    fresh
        Generates relation numbers and aliases; the passes continue with it.
    positions
        Looks up the positions of named objects, ICRS in degrees; None refuses ivo_simbadpoint.

    Returns
    -------
    tuple[Query, tuple[TableEntry, ...]]
        The bound query and the catalogue tables that it reads.

    Raises
    ------
    AdqlError
        The query is faulty; an AdqlErrors has all errors found.
    """
    resolution = Resolution(catalogue, fresh, ObjectPositions(positions))
    query = QueryBinder(resolution).bind_statement(statement)
    return query, tuple(resolution.tables.values())
