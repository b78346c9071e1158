"""Balanced maps: runs of cells with the same weight for each shard."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clickhouse_schema.shard_balance import balance_shards, sum_cell_weights, sum_moved_weight, sum_shard_weights
from clickhouse_schema.shard_map import MAP_ORDER, Sharding, ShardMap

_CELLS = 12 * 4**MAP_ORDER


@settings(max_examples=60, deadline=None)
@given(shards=st.integers(1, 60), seed=st.integers(0, 1000), skew=st.sampled_from([0.0, 1.0, 3.0]))
def test_each_shard_has_one_run_with_the_same_weight(shards: int, seed: int, skew: float) -> None:
    chance = np.random.default_rng(seed)
    weights = np.append(chance.lognormal(0, skew, _CELLS), 0.0)
    map_ = balance_shards(weights, shards)
    cells = np.array(map_.cells[:-1])
    assert cells[0] == 0
    assert cells[-1] == shards - 1
    assert set(np.diff(cells)) <= {0, 1}
    assert sum_shard_weights(weights, map_).max() <= 1.02 * weights.sum() / shards + weights.max()


@pytest.mark.parametrize("full", [0, 17, _CELLS - 1])
def test_weights_in_one_cell_are_divided_into_runs_too(full: int) -> None:
    weights = np.zeros(_CELLS + 1)
    weights[full] = 1e9
    weights[-1] = 5
    map_ = balance_shards(weights, 7)
    assert set(map_.cells) == set(range(7))
    assert map_.cells[-1] != map_.cells[full]
    assert np.bincount(np.array(map_.cells)).min() >= 1


def test_without_weights_each_shard_has_the_same_share_of_the_sky() -> None:
    for map_ in (balance_shards(np.zeros(_CELLS + 1), 7), ShardMap.build_uniform(7)):
        assert set(np.bincount(map_.cells[:-1])) == {_CELLS // 7, _CELLS // 7 + 1}
    assert balance_shards(np.zeros(_CELLS + 1), _CELLS).cells == (*range(_CELLS), 0)


@pytest.mark.parametrize("shards", [0, _CELLS + 1])
def test_a_map_has_at_least_one_shard_and_at_most_one_per_cell(shards: int) -> None:
    with pytest.raises(ValueError, match="1 to 3072 shards"):
        balance_shards(np.zeros(_CELLS + 1), shards)


def test_counts_of_other_orders_are_converted_to_cells_of_the_map() -> None:
    fine, coarse = 4**2 * 9 + 3, 2
    weights = sum_cell_weights([(6, fine, 10), (4, 9, 1), (3, coarse, 8), (6, 12 * 4**6, 7), (3, 12 * 4**3, 1)])
    assert weights[9] == 11 + 2
    assert weights[8] == weights[10] == weights[11] == 2
    assert weights[-1] == 8
    assert weights.sum() == 27


def test_cells_with_another_shard_are_moved() -> None:
    weights = np.ones(_CELLS + 1)
    assert sum_moved_weight(weights, ShardMap.build_uniform(4), ShardMap.build_uniform(4)) == 0
    assert sum_moved_weight(weights, ShardMap.build_uniform(1), ShardMap.build_uniform(2)) == _CELLS / 2


def test_a_sharding_is_read_as_it_was_written() -> None:
    placement = Sharding("skyhouse", balance_shards(np.arange(_CELLS + 1.0), 5), 3)
    assert Sharding.from_document(placement.to_document()) == placement
    assert placement.base_name("t") == "t__3"
