"""What estimates of rows, bytes and seconds read from bound queries."""

from adql.clickhouse.emitter import emit_query
from adql.clickhouse.engine_settings import SETTINGS
from adql.clickhouse.sky.cube_sql import MIN_CUBE_SIDE
from adql.query_plan import is_cross_match
from adql.rewrite.confining_regions import find_confinements
from adql.rewrite.radius_bounds import bound_radius
from adql.rewrite.relation_trees import is_join_equality
from adql.rewrite.spatial_covers import cover_region

__all__ = [
    "MIN_CUBE_SIDE",
    "SETTINGS",
    "bound_radius",
    "cover_region",
    "emit_query",
    "find_confinements",
    "is_cross_match",
    "is_join_equality",
]
