"""Partitions are the same as from hats-import."""

import numpy as np
import pytest
from hats.pixel_math.partition_stats import generate_alignment

from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.hats.partition_rule import choose_partitions


def find_partitions_of_hats(counts, lowest_order):
    """Call it like hats-import: with ``use_lower_order`` always, with ``drop_empty_siblings`` by default."""
    order = int(np.log2(len(counts) // 12)) // 2
    found = generate_alignment(counts, order, lowest_order, 100, drop_empty_siblings=True, use_lower_order=True)
    return {tuple(item) for item in found if item is not None}


@pytest.mark.parametrize("lowest_order", [0, 1, 4])
@pytest.mark.parametrize("filled", [0.001, 0.02, 0.1, 0.6])
@pytest.mark.parametrize("mean", [1, 40])
def test_partitions_are_as_in_hats_import(lowest_order, filled, mean):
    random = np.random.default_rng(lowest_order)
    counts = np.where(random.random(12 * 4**4) < filled, random.poisson(mean, 12 * 4**4), 0)

    cells = np.flatnonzero(counts)
    found = choose_partitions(4, cells, counts[cells], 100, lowest_order)

    assert {(*pixel, rows) for pixel, rows in found.items()} == find_partitions_of_hats(counts, lowest_order)


def test_rows_in_one_quarter_make_it_a_partition():
    cells, rows = np.array([700, 701, 2000]), np.array([60, 60, 3])

    assert choose_partitions(4, cells, rows, 100) == {
        HatsPixel(4, 700): 60,
        HatsPixel(4, 701): 60,
        HatsPixel(4, 2000): 3,
    }
    assert choose_partitions(4, cells, rows // 2, 100) == {HatsPixel(1, 10): 60, HatsPixel(1, 31): 1}


def test_a_full_pixel_of_the_highest_order_is_a_partition():
    assert choose_partitions(1, np.array([5]), np.array([11]), 10) == {HatsPixel(1, 5): 11}


def test_a_catalogue_without_rows_has_no_partitions():
    nothing = np.array([], np.int64)

    assert choose_partitions(4, nothing, nothing) == {}
