"""Names to columns, expressions to types: the syntax tree becomes a bound query, or errors with positions.

``queries`` binds SELECTs and set operations, ``tables`` FROM clauses, ``scope`` finds names, ``expressions`` and
``geometry`` bind values, ``types`` says which of them go together.
"""

from adql.resolve.query_binder import resolve

__all__ = ["resolve"]
