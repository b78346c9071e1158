"""Regions of the sky: shapes with exact membership, area, centroid and relations in float64, and HEALPix covers.

sphere      unit vectors, positions, separations; ShapeError
locate      HEALPix index of directions
region      the contract of a region
chords      angles compared by squared chords
circles     SQL of whether a row's position is in one of many circles
cone, polygon, interval, moc    the shapes
sectors     the edges of a polygon of many vertices that matter for a position
algebra     unions, intersections, complements
covers      the recursive cover
borders     borders as arcs of circles
relations   CONTAINS and INTERSECTS of two constant regions
measures    AREA and CENTROID of a constant region
membership  SQL of whether a row's position is in a constant region
columns     SQL of circles and polygons made from columns: relations, area, centroid, caps
normal_form, pieces, stored     regions as tables keep them, and their relations as SQL
stored_mocs     MOCs as tables keep them, as SQL
row_relations   SQL of CONTAINS and INTERSECTS of any two shapes, of rows or constant
"""

from adql.regions.cone import Cone, circle
from adql.regions.coordinate_interval import Range
from adql.regions.healpix_cover import MOST_CELLS, Cover, cover
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon, box
from adql.regions.region import Region
from adql.regions.region_algebra import Complement, Grown, Intersection, Nothing, Union, WholeSky
from adql.regions.unit_vectors import ShapeError, direction

__all__ = [
    "MOST_CELLS",
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
    "box",
    "circle",
    "cover",
    "direction",
]
