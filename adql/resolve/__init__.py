"""Names to columns, expressions to types: the syntax tree becomes a bound query, or errors with positions.

``queries`` binds SELECTs and set operations, ``scope`` finds names, ``expressions`` and ``geometry`` bind values.
"""

from adql.resolve.queries import resolve

__all__ = ["resolve"]
