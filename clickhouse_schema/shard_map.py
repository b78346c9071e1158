"""On which shards rows are: one shard map for all tables assigns each cell of the sky to a shard. Pure.

Because all tables share the map, neighbouring rows of all tables are on the same shard, and cross-matches need another
shard only at the borders. There a table's overlap, of ``Layout.overlap_radius`` degrees, has copies of the rows of
other shards. The parts of a table ``t``:

    t           Distributed: all shards, which queries read
    t__local    on each shard its own rows
    t__overlap  on each shard copies of the rows of other shards within the overlap radius of its cells
    t__margin   on each shard both of these

Every server has all rows of a table that is not sharded, under the table's name. Rows without a position belong to the
last cell of the map.

The map is in the catalogue log, so changing it changes the catalogue. Each map has separate tables, whose names contain
its generation (``t__2``, ``t__2__local``; generation 0 has plain names): a query reads the rows of the map with which
it was translated, and sees each row exactly once while rows are moved. For the same reason a table that is loaded again
has another number in its names (``t__2_1``, ``t__0_1__local``). ``clickhouse_schema.overlap_sql`` has the SQL of the
shards that have copies of a row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from clickhouse_schema.healpix import NO_POSITION, ORDER

#: Stored column with the number of a row's shard, from 0: the sharding key. In an overlap, the shard of the copy
SHARD_COLUMN = "__shard"

#: Name of the cluster in remote_servers of each ClickHouse server
CLUSTER_NAME = "skyhouse"

#: Order of the map's cells, which are 3.7 degrees wide
MAP_ORDER = 4

LOCAL, OVERLAP, MARGIN = "__local", "__overlap", "__margin"

#: Pattern of the names that ``Sharding.base_name`` returns
BASE_PATTERN = r"(?P<table>.+?)(?:__(?P<generation>[0-9]+)(?:_(?P<number>[0-9]+))?)?"


@dataclass(frozen=True, slots=True)
class ShardMap:
    """The shard of each cell of the sky.

    Attributes
    ----------
    order : int
        The HEALPix order of the cells.
    cells : tuple of int
        The shard, from 0, of each NESTED cell, followed by the shard of the rows without a position: 12 * 4**order + 1
        numbers.

    Raises
    ------
    ValueError
        The number of cells does not fit the order.
    """

    order: int
    cells: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.cells) != 12 * 4**self.order + 1:
            raise ValueError(f"a map of order {self.order} has {12 * 4**self.order + 1} cells, not {len(self.cells)}")

    @classmethod
    def build_uniform(cls, shards: int) -> ShardMap:
        """Return a map of order ``MAP_ORDER`` with the same share of the sky for each shard.

        Parameters
        ----------
        shards : int
            The number of shards.

        Returns
        -------
        ShardMap
            The map. Each shard has consecutive cells; rows without a position are on the first shard.
        """
        count = 12 * 4**MAP_ORDER
        return cls(MAP_ORDER, (*(cell * shards // count for cell in range(count)), 0))

    @property
    def shard_count(self) -> int:
        return max(self.cells) + 1

    def find_shard(self, hpx29: int) -> int:
        """Return the shard of a row.

        Parameters
        ----------
        hpx29 : int
            The row's index of order 29; ``NO_POSITION`` or more for a row without a position.
        """
        return self.cells[int(min(hpx29, NO_POSITION)) >> self._index_shift]

    def find_shards(self, ranges: Iterable[tuple[int, int]]) -> frozenset[int]:
        """Return the shards that have rows in ranges of indexes.

        Parameters
        ----------
        ranges : iterable of (int, int)
            The first index of order 29, and the index after the last one, of each range; no range is empty.

        Returns
        -------
        frozenset of int
            The shards of the cells that the ranges touch.
        """
        found: set[int] = set()
        for first, end in ranges:
            found.update(self.cells[first >> self._index_shift : ((end - 1) >> self._index_shift) + 1])
        return frozenset(found)

    def shard_sql(self, hpx29: str) -> str:
        """Return the SQL of the shard of a row, which takes 10 ns per row.

        arrayElement of a constant array takes 60 ns, multiIf over 100 runs of cells 50 ns, over a random map 11 us.

        Parameters
        ----------
        hpx29 : str
            SQL of the row's index of order 29.

        Returns
        -------
        str
            SQL of the shard, UInt16.
        """
        cell = f"intDiv({hpx29}, {4 ** (ORDER - self.order)})"
        return f"toUInt16(transform({cell}, range({len(self.cells)}), {[*self.cells]}, 0))"

    def is_shard_sql(self, hpx29: str, shard: int) -> str:
        """Return the condition that a row belongs to a shard.

        It also contains the range of the shard's cells, by which ClickHouse finds the granules.

        Parameters
        ----------
        hpx29 : str
            SQL of the row's index of order 29.
        shard : int
            The shard. A shard without cells has no rows.

        Returns
        -------
        str
            Conditions joined by AND, without brackets around them.
        """
        *sky, without_position = self.cells
        own = [cell for cell, holder in enumerate(sky) if holder == shard]
        first, end = (own[0], own[-1] + 1) if own else (0, 0)
        last = f"{hpx29} < {end << self._index_shift}"
        if without_position == shard:
            last = f"({last} OR {hpx29} >= {len(sky) << self._index_shift})"
        return f"{self.shard_sql(hpx29)} = {shard} AND {hpx29} >= {first << self._index_shift} AND {last}"

    @property
    def _index_shift(self) -> int:
        return 2 * (ORDER - self.order)


class ShardStatement(NamedTuple):
    """The SQL of a query for any server of one shard; shards are numbered from 0."""

    shard: int
    sql: str


@dataclass(frozen=True, slots=True)
class Sharding:
    """A cluster, and the map by which its shards have the rows.

    Attributes
    ----------
    cluster : str
        The name of the cluster in remote_servers of each ClickHouse server.
    map : ShardMap
        The shard of each cell.
    generation : int
        The number of the map, from 0. It is part of the names of sharded tables.
    """

    cluster: str
    map: ShardMap
    generation: int = 0

    def base_name(self, table_name: str, number: int = 0, *, is_sharded: bool = True) -> str:
        """Return the name of a table in ClickHouse; the names of a sharded table's parts start with it.

        Parameters
        ----------
        table_name : str
            The name of the table in the catalogue.
        number : int
            The number of times that the table was replaced.
        is_sharded : bool
            Whether the table is sharded; otherwise its name does not depend on the map.
        """
        generation = self.generation if is_sharded else 0
        if not (generation or number):
            return table_name
        return f"{table_name}__{generation}_{number}" if number else f"{table_name}__{generation}"

    def to_document(self) -> str:
        """Return the JSON document for the catalogue log."""
        content = {"generation": self.generation, "order": self.map.order, "cells": self.map.cells}
        return json.dumps({"cluster": self.cluster, **content}, separators=(",", ":"))

    @classmethod
    def from_document(cls, document: str) -> Sharding:
        """Return the sharding that ``to_document`` has written.

        Parameters
        ----------
        document : str
            JSON from the catalogue log.

        Raises
        ------
        ValueError
            The document is not JSON, or its map has a wrong number of cells.
        KeyError
            A key is missing.
        """
        found = json.loads(document)
        return cls(found["cluster"], ShardMap(found["order"], tuple(found["cells"])), found["generation"])
