"""The bound query: the resolver builds it from the syntax tree, the passes rewrite it, the emitter writes it as SQL."""

from adql.ir.bound_queries import (
    Derived,
    Exists,
    InSubquery,
    Join,
    NameGenerator,
    Output,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
    SubqueryExpr,
    has_window,
    map_select,
    walk_join_conditions,
    walk_joins,
    walk_leaves,
    walk_select_expressions,
    walk_selects,
)
from adql.ir.column_metadata import derive_field
from adql.ir.expressions import (
    UNTYPED,
    Aggregate,
    Call,
    Column,
    Covered,
    Expr,
    Frame,
    InCells,
    Literal,
    Lookup,
    Order,
    Shape,
    Windowed,
    Within,
    combine_conditions,
    combine_conjuncts,
    evaluate_constant,
    has_aggregate,
    split_conjuncts,
    transform_expr,
    walk_columns,
    walk_expr,
    widen_exactly,
)
from adql.ir.free_columns import (
    find_free_columns,
    has_correlated_subquery,
    is_correlated,
    is_correlated_by_where,
    substitute_in_expr,
    substitute_in_query,
    substitute_in_select,
    walk_used_columns,
)
from adql.ir.operand_views import (
    Cases,
    Nearness,
    Position,
    Separation,
    Turn,
    VectorNearness,
    evaluate_region,
    read_frames,
    read_position,
    read_radius,
)
from adql.ir.operators import get_operand
from adql.ir.unit_arithmetic import UnitFault, find_conversion, multiply_units, raise_unit
from adql.ir.unit_rules import derive_unit, find_common_unit

__all__ = [
    "UNTYPED", "Aggregate", "Call", "Cases", "Column", "Covered", "Derived", "Exists", "Expr", "Frame", "InCells",
    "InSubquery", "Join", "Literal", "Lookup", "NameGenerator", "Nearness", "Order", "Output", "Position", "Query",
    "Relation", "Scan", "Select", "Separation", "SetOperation", "Shape", "Subquery", "SubqueryExpr", "Turn",
    "UnitFault", "VectorNearness", "Windowed", "Within", "combine_conditions", "combine_conjuncts", "derive_field",
    "derive_unit", "evaluate_constant", "evaluate_region", "find_common_unit", "find_conversion", "find_free_columns",
    "get_operand", "has_aggregate", "has_correlated_subquery", "has_window", "is_correlated", "is_correlated_by_where",
    "map_select", "multiply_units", "raise_unit", "read_frames", "read_position", "read_radius", "split_conjuncts",
    "substitute_in_expr", "substitute_in_query", "substitute_in_select", "transform_expr", "walk_columns", "walk_expr",
    "walk_join_conditions", "walk_joins", "walk_leaves", "walk_select_expressions", "walk_selects", "walk_used_columns",
    "widen_exactly",
]  # fmt: skip
