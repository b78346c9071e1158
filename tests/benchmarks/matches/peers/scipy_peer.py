"""SciPy's k-d tree of unit vectors, queried on all cores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tests.benchmarks.matches.peers.array_peer import ArrayPeer, Indices, Pairs
from tests.benchmarks.matches.unit_vectors import CHORD, make_vectors

#: rows per query
_BLOCK = 1_000_000
#: rows with this many neighbours are queried again for all of them
_NEIGHBOURS = 4
#: distance_upper_bound is exclusive
_BOUND = float(np.nextafter(CHORD, 1))

Vectors = NDArray[np.float64]


class ScipyPeer(ArrayPeer[Vectors]):
    """The tree has the smaller table and is not balanced: SciPy's fastest way for sparse pairs."""

    def make_positions(self, table: pa.Table) -> Vectors:
        return make_vectors(table)

    def count_pairs(self, left: Vectors, right: Vectors) -> int:
        tree = _plant(right)
        return sum(
            int(tree.query_ball_point(block, CHORD, workers=-1, return_length=True).sum()) for _, block in _cut(left)
        )

    def find_pairs(self, left: Vectors, right: Vectors) -> Pairs:
        if len(left) < len(right):
            right_indices, left_indices = self.find_pairs(right, left)
            return left_indices, right_indices
        tree = _plant(right)
        found = [pairs for first, block in _cut(left) for pairs in _find_neighbours(tree, first, block)]
        left_indices, right_indices = (np.concatenate(each) for each in zip(*found, strict=True))
        return left_indices, right_indices

    def find_nearest(self, left: Vectors, right: Vectors) -> Pairs:
        tree = _plant(right)
        nearest = np.concatenate(
            [tree.query(block, distance_upper_bound=_BOUND, workers=-1)[1] for _, block in _cut(left)]
        )
        left_indices = np.nonzero(nearest < len(right))[0]
        return left_indices, nearest[left_indices]


def _plant(vectors: Vectors) -> cKDTree:
    return cKDTree(vectors, balanced_tree=False)


def _cut(vectors: Vectors) -> Iterator[tuple[int, Vectors]]:
    return ((first, vectors[first : first + _BLOCK]) for first in range(0, len(vectors), _BLOCK))


def _find_neighbours(tree: cKDTree, first: int, block: Vectors) -> Iterator[Pairs]:
    """Yield the pairs of rows with few neighbours, then of those with many."""
    apart, indices = tree.query(block, k=_NEIGHBOURS, distance_upper_bound=_BOUND, workers=-1)
    is_crowded = np.isfinite(apart[:, -1])
    rows, ranks = np.nonzero(np.isfinite(apart) & ~is_crowded[:, np.newaxis])
    yield first + rows, indices[rows, ranks]
    crowded: Indices = np.nonzero(is_crowded)[0]
    if len(crowded):
        lists = tree.query_ball_point(block[crowded], CHORD, workers=-1)
        yield first + np.repeat(crowded, [len(each) for each in lists]), np.concatenate(lists).astype(np.int64)
