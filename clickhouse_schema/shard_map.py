"""Where rows live on a cluster: one map for all tables says which shard holds which cell of the sky. Pure.

Because the map is the cluster's and not a table's, rows near each other are on the same shard whatever their tables,
and matches need no other shard but at the borders. There a table's overlap, of ``Layout.overlap_radius`` degrees, has
copies of the other shards' rows. What a table ``t`` is made of:

    t           Distributed: what queries read, all shards
    t__local    on each shard its own rows
    t__overlap  on each shard copies of the others' rows that are within the overlap radius of its cells
    t__margin   on each shard both of these together

A table that is not sharded is whole on every server under its own name. The shard of a row without a position is that
of the map's last cell; it is near nothing.

The map is kept in the log of the catalogue, so a change of it is a change of the catalogue. Each map has tables of its
own, whose names have its generation in them (``t__2``, ``t__2__local``; the first has 0 and plain names): a query that
was translated with one map reads that map's rows to its end, and no query sees a row twice or not at all while rows
move. For the same reason a table that is loaded anew has another number in its names (``t__2_1``, ``t__0_1__local``).
``clickhouse_schema.overlap_sql`` has the SQL of which shards have copies of a row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from clickhouse_schema.healpix import NO_POSITION, ORDER
from clickhouse_schema.quoting import quote_identifier

#: The stored column that holds the number of a row's shard, from 0: the sharding key. In an overlap that of the shard
#: that has the copy.
SHARD_COLUMN = "__shard"

#: Name in remote_servers of the configuration of each ClickHouse server
CLUSTER_NAME = "skyhouse"

#: Of the map's cells: of 3.7 degrees
MAP_ORDER = 4

LOCAL, OVERLAP, MARGIN = "__local", "__overlap", "__margin"

#: Ending of the names of what holds the rows of a part, where that is a view (``topology``)
ROWS_SUFFIX = "_rows"

#: Pattern of the names that ``Sharding.base_name`` makes
BASE_PATTERN = r"(?P<table>.+?)(?:__(?P<generation>[0-9]+)(?:_(?P<number>[0-9]+))?)?"


@dataclass(frozen=True, slots=True)
class ShardMap:
    """``cells``: the shard, from 0, of each NESTED cell of ``order``, and one more for rows without a position."""

    order: int
    cells: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.cells) != 12 * 4**self.order + 1:
            raise ValueError(f"a map of order {self.order} has {12 * 4**self.order + 1} cells, not {len(self.cells)}")

    @classmethod
    def build_uniform(cls, shards: int) -> ShardMap:
        """Each shard has as much of the sky, in one run of cells; rows without a position are on the first."""
        count = 12 * 4**MAP_ORDER
        return cls(MAP_ORDER, (*(cell * shards // count for cell in range(count)), 0))

    @property
    def shard_count(self) -> int:
        return max(self.cells) + 1

    def find_shard(self, hpx29: int) -> int:
        return self.cells[int(min(hpx29, NO_POSITION)) >> self._shift]

    def find_shards(self, ranges: Iterable[tuple[int, int]]) -> frozenset[int]:
        """The shards of half-open ``ranges`` of indexes of order 29."""
        found: set[int] = set()
        for first, end in ranges:
            found.update(self.cells[first >> self._shift : ((end - 1) >> self._shift) + 1])
        return frozenset(found)

    def shard_sql(self, hpx29: str) -> str:
        """SQL of the shard, UInt16, of the index of order 29 that the SQL ``hpx29`` gives: 10 ns a row.

        (arrayElement of a constant array takes 60 ns, multiIf over 100 runs of cells 50 ns, over a random map 11 us.)
        """
        cell = f"intDiv({hpx29}, {4 ** (ORDER - self.order)})"
        return f"toUInt16(transform({cell}, range({len(self.cells)}), {[*self.cells]}, 0))"

    @property
    def _shift(self) -> int:
        return 2 * (ORDER - self.order)


@dataclass(frozen=True, slots=True)
class Sharding:
    """The ``cluster`` in ClickHouse's remote_servers, and its map, the ``generation``th from 0."""

    cluster: str
    map: ShardMap
    generation: int = 0

    def base_name(self, table_name: str, number: int = 0, *, is_sharded: bool = True) -> str:
        """Name in ClickHouse of a table of a cluster; those of the parts of a sharded one begin so.

        ``number`` counts from 0 what the table was made as: a load that replaces all of it makes another.
        """
        generation = self.generation if is_sharded else 0
        if not (generation or number):
            return table_name
        return f"{table_name}__{generation}_{number}" if number else f"{table_name}__{generation}"

    def to_document(self) -> str:
        """As the log of the catalogue has it, JSON."""
        content = {"generation": self.generation, "order": self.map.order, "cells": self.map.cells}
        return json.dumps({"cluster": self.cluster, **content}, separators=(",", ":"))

    @classmethod
    def from_document(cls, document: str) -> Sharding:
        found = json.loads(document)
        return cls(found["cluster"], ShardMap(found["order"], tuple(found["cells"])), found["generation"])


def quote_table(schema_name: str, base: str, suffix: str = "") -> str:
    """Quoted name in ClickHouse of a part of a sharded table; ``base`` as ``Sharding.base_name`` gives it."""
    return f"{quote_identifier(schema_name)}.{quote_identifier(base + suffix)}"
