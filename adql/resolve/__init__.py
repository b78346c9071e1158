"""The resolver: a syntax tree becomes a bound query, with a column for each name and a type for each expression.

``query_binder`` binds SELECTs and set operations, ``from_binder`` FROM clauses, ``expression_binders`` lists the
functions that bind expressions, ``scope`` finds columns, ``type_rules`` has the rules for types.
"""

from adql.resolve.query_binder import resolve_statement

__all__ = ["resolve_statement"]
