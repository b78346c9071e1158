"""The default sizes of partitions and margins."""

from __future__ import annotations

#: Maximum number of rows of a partition, as in hats-import
MAX_PARTITION_ROWS = 1_000_000

#: Width of a margin in arcseconds: matches of ground-based catalogues fit in it. hats-import's default is 5.
MARGIN_THRESHOLD = 10.0
