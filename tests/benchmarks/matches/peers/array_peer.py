"""Peers that find pairs of arrays; NumPy does the rest of each kind of match."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tests.benchmarks.matches.match_kinds import KINDS, LEFT_ID, NO_PARTNER, RIGHT_ID
from tests.benchmarks.matches.peers.peer import MatchTask, Peer

Indices = NDArray[np.int64]
Pairs = tuple[Indices, Indices]
Positions = TypeVar("Positions")


class ArrayPeer(Peer, Generic[Positions]):
    """A peer that finds the indices of pairs in two arrays of positions."""

    @abstractmethod
    def make_positions(self, table: pa.Table) -> Positions: ...

    @abstractmethod
    def find_pairs(self, left: Positions, right: Positions) -> Pairs: ...

    @abstractmethod
    def find_nearest(self, left: Positions, right: Positions) -> Pairs:
        """Return the nearest partner of each row that has one."""

    def count_pairs(self, left: Positions, right: Positions) -> int:
        return len(self.find_pairs(left, right)[0])

    def find(self, task: MatchTask) -> int | Path:
        kind = KINDS[task.kind]
        tables = [pq.read_table(task.data.parquet(name)) for name in (kind.left, kind.right)]
        ids = [table["id"].to_numpy() for table in tables]
        left, right = (self.make_positions(table) for table in tables)
        if task.kind == "counted":
            return self.count_pairs(left, right)
        if task.kind == "without":
            return len(ids[0]) - len(self.find_nearest(left, right)[0])
        found = self.find_nearest(left, right) if task.kind == "nearest" else self.find_pairs(left, right)
        left_ids, right_ids = (column[indices] for column, indices in zip(ids, found, strict=True))
        if task.kind == "summed":
            return int((left_ids + right_ids).sum())
        if task.kind == "left":
            alone = np.ones(len(ids[0]), bool)
            alone[found[0]] = False
            left_ids = np.concatenate([left_ids, ids[0][alone]])
            right_ids = np.concatenate([right_ids, np.full(alone.sum(), NO_PARTNER)])
        pq.write_table(pa.table({LEFT_ID: left_ids, RIGHT_ID: right_ids}), task.result)
        return task.result
