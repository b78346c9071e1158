"""The parts of bound queries that estimates of rows, bytes and seconds read."""

from adql.clickhouse.emitter import emit_query
from adql.clickhouse.sky.cube_sql import MIN_CUBE_SIDE
from adql.clickhouse.sql_settings import SETTINGS
from adql.query_plan import is_cross_match
from adql.rewrite.covers.confining_regions import find_confinements
from adql.rewrite.covers.spatial_covers import cover_region
from adql.rewrite.matches.counted_matches import CellMatch
from adql.rewrite.matches.match_sizes import find_border_part
from adql.rewrite.matches.merged_matches import MergedMatch, is_merged
from adql.rewrite.matches.radius_bounds import bound_radius
from adql.rewrite.trees.relation_trees import is_join_equality, joins_both_sides

__all__ = [
    "MIN_CUBE_SIDE",
    "SETTINGS",
    "CellMatch",
    "MergedMatch",
    "bound_radius",
    "cover_region",
    "emit_query",
    "find_border_part",
    "find_confinements",
    "is_cross_match",
    "is_join_equality",
    "is_merged",
    "joins_both_sides",
]
