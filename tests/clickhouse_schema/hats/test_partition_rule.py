"""Partitions are those of hats."""

import numpy as np
import pytest
from hats.pixel_math.partition_stats import generate_alignment

from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.hats.partition_rule import choose_partitions


@pytest.mark.parametrize("lowest_order", [0, 1, 4])
def test_partitions_are_those_of_hats(lowest_order):
    random = np.random.default_rng(lowest_order)
    counts = random.poisson(random.choice([0, 1, 30], 12 * 4**4, p=[0.6, 0.3, 0.1]))

    expected = {tuple(item) for item in generate_alignment(counts, 4, lowest_order, threshold=100) if item is not None}

    cells = np.flatnonzero(counts)
    found = choose_partitions(4, cells, counts[cells], 100, lowest_order)

    assert {(*pixel, rows) for pixel, rows in found.items()} == expected


def test_a_full_pixel_of_the_highest_order_is_a_partition():
    assert choose_partitions(1, np.array([5]), np.array([11]), 10) == {HatsPixel(1, 5): 11}


def test_a_catalogue_without_rows_has_no_partition():
    nothing = np.array([], np.int64)

    assert choose_partitions(4, nothing, nothing) == {}
