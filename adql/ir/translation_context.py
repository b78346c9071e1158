"""The context of one translation, which all its steps share."""

from __future__ import annotations

from adql.node_classes import node_class
from clickhouse_schema.shard_map import Sharding


class NameGenerator:
    """Generates the relation numbers and the output aliases of one translation, each once."""

    __slots__ = ("_aliases", "_relations")

    def __init__(self) -> None:
        self._relations = 0
        self._aliases = 0

    def copy(self) -> NameGenerator:
        """Return a generator that continues from the same names, independently of this one."""
        other = NameGenerator()
        other._relations, other._aliases = self._relations, self._aliases
        return other

    def new_relation(self) -> int:
        """Return a relation number that no relation of the query has."""
        self._relations += 1
        return self._relations

    def new_alias(self) -> str:
        """Return an alias that no output of the query has."""
        self._aliases += 1
        return f"c{self._aliases}"


@node_class(frozen=True, slots=True)
class TranslationContext:
    """The data that passes need in addition to the query. Passes return their findings.

    The catalogue is not in it: the bound query has the entries of its tables, and is sent to other processes.

    Attributes
    ----------
    names
        Generates relation numbers and aliases. Binding has used some of them.
    sharding
        The cluster and its shard map; None for a single server.
    """

    names: NameGenerator
    sharding: Sharding | None = None

    def branch(self) -> TranslationContext:
        """Return a context for one rewrite of a bound query; this context stays unchanged for the next rewrite."""
        return TranslationContext(self.names.copy(), self.sharding)
