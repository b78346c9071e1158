"""ADQL in, ClickHouse SQL out, without HTTP, driver or clock.

Other packages import from four modules:

``adql``                 translate, its errors, the division of queries, the functions and extensions
``adql.ir``              the nodes of bound queries, and how to walk them
``adql.query_analysis``  what estimates read from bound queries
``adql.regions``         shapes on the sky, MOCs and covers
"""

from adql.division import Division, Piece, Undivided, choose_borders, divide_query
from adql.errors import (
    NOWHERE,
    AdqlError,
    AdqlErrors,
    AdqlSemanticError,
    AdqlSyntaxError,
    AdqlUnsupported,
    Fix,
    FormError,
    Span,
    make_printable,
    offset_to_line_column,
)
from adql.functions import GEOMETRY_NAMES, LANGUAGE_FEATURES, USER_DEFINED
from adql.functions.object_name_functions import (
    MAX_NAME_CHARACTERS,
    OBJECT_NAME_FUNCTIONS,
    NameLookupError,
    PositionLookup,
)
from adql.resolve.tableless_check import check_without_tables
from adql.syntax.extensions import EXTENSIONS, FEATURE_TYPE
from adql.translation import (
    BoundQuery,
    SqlStatement,
    StoredRowStatement,
    Translation,
    emit_look_ups,
    emit_statement,
    translate,
)

__all__ = [
    "EXTENSIONS",
    "FEATURE_TYPE",
    "GEOMETRY_NAMES",
    "LANGUAGE_FEATURES",
    "MAX_NAME_CHARACTERS",
    "NOWHERE",
    "OBJECT_NAME_FUNCTIONS",
    "USER_DEFINED",
    "AdqlError",
    "AdqlErrors",
    "AdqlSemanticError",
    "AdqlSyntaxError",
    "AdqlUnsupported",
    "BoundQuery",
    "Division",
    "Fix",
    "FormError",
    "NameLookupError",
    "Piece",
    "PositionLookup",
    "Span",
    "SqlStatement",
    "StoredRowStatement",
    "Translation",
    "Undivided",
    "check_without_tables",
    "choose_borders",
    "divide_query",
    "emit_look_ups",
    "emit_statement",
    "make_printable",
    "offset_to_line_column",
    "translate",
]
