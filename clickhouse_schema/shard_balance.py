"""Balanced shard maps: each shard has a run of neighbouring cells, so that few rows are near another shard. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.shard_map import MAP_ORDER, ShardMap

_CELLS = 12 * 4**MAP_ORDER

#: Share of the total weight that is spread evenly over the cells, so that empty cells are not all on one shard
_EVEN_SHARE = 0.01


def balance_shards(weights: NDArray[np.float64], shards: int) -> ShardMap:
    """Return a map of runs of NESTED cells with about equal weights.

    Parameters
    ----------
    weights : NDArray[np.float64]
        Shape (12 * 4**MAP_ORDER + 1,): the weight of each cell of ``MAP_ORDER``, and last the weight of the rows
        without a position, which are assigned to the shard with the lowest weight.
    shards : int
        Number of runs; each has at least one cell.

    Returns
    -------
    ShardMap
        The map, of order ``MAP_ORDER``.

    Raises
    ------
    ValueError
        ``shards`` is less than 1, or more than the number of cells.
    """
    if not 1 <= shards <= _CELLS:
        raise ValueError(f"a map has 1 to {_CELLS} shards, not {shards}")
    cells = weights[:-1] + (_EVEN_SHARE * weights.sum() or 1.0) / _CELLS
    middles = cells.cumsum() - cells / 2
    cuts = np.searchsorted(middles, cells.sum() * np.arange(1, shards) / shards)
    numbers = np.arange(1, shards)
    cuts = np.maximum.accumulate(np.maximum(cuts, numbers) - numbers) + numbers  # each run has a cell
    cuts = np.minimum(cuts, _CELLS - shards + numbers)
    owners = np.searchsorted(cuts, np.arange(_CELLS), side="right")
    held = np.bincount(owners, weights[:-1], shards)
    return ShardMap(MAP_ORDER, (*owners.tolist(), int(held.argmin())))


def sum_cell_weights(counted: Iterable[tuple[int, int, int]]) -> NDArray[np.float64]:
    """Sum weights by cell of ``MAP_ORDER``.

    Parameters
    ----------
    counted : iterable of tuple of int
        Order, NESTED cell and weight. The cell 12 * 4^order is for rows without a position. Weights of coarser cells
        are distributed evenly over the cells inside.

    Returns
    -------
    NDArray[np.float64]
        Shape (12 * 4**MAP_ORDER + 1,); the last element is for rows without a position.
    """
    weights = np.zeros(_CELLS + 1)
    for order, cell, weight in counted:
        if cell == 12 * 4**order:
            weights[-1] += weight
        elif order >= MAP_ORDER:
            weights[cell >> 2 * (order - MAP_ORDER)] += weight
        else:
            inside = 4 ** (MAP_ORDER - order)
            weights[cell * inside : (cell + 1) * inside] += weight / inside
    return weights


def sum_shard_weights(weights: NDArray[np.float64], map_: ShardMap) -> NDArray[np.float64]:
    """Return the weight of each shard.

    Parameters
    ----------
    weights : NDArray[np.float64]
        Weights by cell, as ``sum_cell_weights`` returns them.
    map_ : ShardMap
        A map of order ``MAP_ORDER``.

    Returns
    -------
    NDArray[np.float64]
        Shape (number of shards,), in the unit of ``weights``.
    """
    return np.asarray(np.bincount(np.array(map_.cells), weights, map_.shard_count), dtype=np.float64)


def sum_moved_weight(weights: NDArray[np.float64], old: ShardMap, new: ShardMap) -> float:
    """Return the weight of the rows that change their shard.

    Parameters
    ----------
    weights : NDArray[np.float64]
        Weights by cell, as ``sum_cell_weights`` returns them.
    old, new : ShardMap
        Maps of order ``MAP_ORDER``, before and after the move.

    Returns
    -------
    float
        Sum over the cells whose shard differs, in the unit of ``weights``.
    """
    return float(weights[np.array(old.cells) != np.array(new.cells)].sum())
