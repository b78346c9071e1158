"""Where rows live on a cluster: one map for all tables says which shard holds which cell of the sky. Pure.

Because the map is the cluster's and not a table's, rows near each other are on the same shard whatever their tables,
and matches need no other shard but at the borders. There a table's overlap, of ``Layout.overlap_radius`` degrees, has
copies of the other shards' rows. What a table ``t`` is made of:

    t           Distributed: what queries read, all shards
    t__local    on each shard its own rows
    t__overlap  on each shard copies of the others' rows that are within the overlap radius of its cells
    t__margin   on each shard both of these together

A table that is not sharded is whole on every server under its own name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clickhouse_schema.healpix import NO_POSITION, ORDER
from clickhouse_schema.quoting import identifier

#: The stored column that holds the number of a row's shard, from 0: the sharding key
SHARD = "shard"

LOCAL, OVERLAP, MARGIN = "__local", "__overlap", "__margin"


@dataclass(frozen=True, slots=True)
class ShardMap:
    """``cells``: the shard, from 0, of each NESTED cell of ``order``, and one more for rows without a position."""

    order: int
    cells: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.cells) != 12 * 4**self.order + 1:
            raise ValueError(f"a map of order {self.order} has {12 * 4**self.order + 1} cells, not {len(self.cells)}")

    @property
    def shards(self) -> int:
        return max(self.cells) + 1

    def shard_of(self, hpx29: int) -> int:
        return self.cells[min(hpx29, NO_POSITION) >> self._shift]

    def shards_of(self, ranges: Iterable[tuple[int, int]]) -> frozenset[int]:
        """The shards of half-open ``ranges`` of indexes of order 29."""
        found: set[int] = set()
        for first, end in ranges:
            found.update(self.cells[first >> self._shift : ((end - 1) >> self._shift) + 1])
        return frozenset(found)

    @property
    def _shift(self) -> int:
        return 2 * (ORDER - self.order)


@dataclass(frozen=True, slots=True)
class Placement:
    """The ``cluster`` in ClickHouse's remote_servers, and its map."""

    cluster: str
    map: ShardMap


def stored(schema_name: str, table_name: str, suffix: str = "") -> str:
    """Quoted name in ClickHouse of a part of a sharded table."""
    return f"{identifier(schema_name)}.{identifier(table_name + suffix)}"
