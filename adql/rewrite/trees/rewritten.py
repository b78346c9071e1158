"""The result of a pass that has also found a fact."""

from __future__ import annotations

from typing import Generic, TypeVar

from adql.ir import Query
from adql.node_classes import node_class

AnyQuery = TypeVar("AnyQuery", bound=Query, covariant=True)


@node_class(frozen=True, slots=True)
class Rewritten(Generic[AnyQuery]):
    """A rewritten query, and the fact that was found in it.

    Attributes
    ----------
    query
        The query, with the same result as before.
    has_id_look_up
        Whether a condition selects few rows by an id or an index.
    """

    query: AnyQuery
    has_id_look_up: bool = False
