"""Regions of the sky: pure geometry in float64, without SQL.

unit_vectors          unit vectors, positions, separations; ShapeError
region                the base class of regions; covers by HEALPix cells, and by stored shape covers
cone, polygon, coordinate_interval, moc    the shapes
circle_union          the union of many circles, for covers
region_algebra        unions, intersections, complements, the whole sky, nothing
celestial_frames      rotations between celestial frames
stcs                  regions from text
borders               borders as arcs of circles
region_relations      CONTAINS and INTERSECTS of two regions
area_centroid         AREA and CENTROID of a region
polygon_sectors       polygons of many vertices, divided by direction
region_rows           regions in the form that a table stores
"""

from adql.regions.cone import Cone, make_circle
from adql.regions.coordinate_interval import Range
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon, make_box
from adql.regions.region import MAX_COVER_CELLS, Cover, Region, find_cover
from adql.regions.region_algebra import Complement, Grown, Intersection, Nothing, Union, WholeSky
from adql.regions.unit_vectors import ShapeError, position_to_vector

__all__ = [
    "MAX_COVER_CELLS",
    "Complement",
    "Cone",
    "Cover",
    "Grown",
    "Intersection",
    "Moc",
    "Nothing",
    "Polygon",
    "Range",
    "Region",
    "ShapeError",
    "Union",
    "WholeSky",
    "find_cover",
    "make_box",
    "make_circle",
    "position_to_vector",
]
