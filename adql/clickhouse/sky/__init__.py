"""The SQL of geometry. Imports run one way: a module uses only modules below it.

geometry_sql            forms of positions and shapes          match_sql   forms of joins on the sky
row_relation_sql        relations of shapes of which a row's columns define at least one
stored_region_sql       regions that a table stores            stored_moc_sql   MOCs that a table stores
border_arc_sql          borders of stored regions
row_shape_sql           circles and polygons that a row's numbers define
membership_sql          a row's position in a constant region
circle_grid_sql         a row's position in one of many circles
cube_sql                the grid of cross-matches              neighbour_cell_sql   HEALPix cells
unit_vector_sql         positions, frames, separations
"""
