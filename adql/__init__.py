"""Translation of ADQL to ClickHouse SQL, without HTTP, database driver or clock.

Other packages import from four modules:

``adql``                 translate, its errors, the division of queries, the functions and extensions
``adql.ir``              the nodes of bound queries, and functions that walk them
``adql.query_analysis``  the parts of bound queries that estimates read
``adql.regions``         shapes on the sky, MOCs and covers
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adql.division import Division, Piece, Undivided, choose_borders, divide_query, find_middle
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
    from adql.syntax.parser import check_condition
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
    "check_condition",
    "check_without_tables",
    "choose_borders",
    "divide_query",
    "emit_look_ups",
    "emit_statement",
    "find_middle",
    "make_printable",
    "offset_to_line_column",
    "translate",
]

#: The modules that define the names above. A module is imported when one of its names is first used, so that a program
#: that needs only regions, such as a reader of uploads, does not load the translator.
_HOMES = {
    "adql.division": (
        "Division",
        "Piece",
        "Undivided",
        "choose_borders",
        "divide_query",
        "find_middle",
    ),
    "adql.errors": (
        "NOWHERE",
        "AdqlError",
        "AdqlErrors",
        "AdqlSemanticError",
        "AdqlSyntaxError",
        "AdqlUnsupported",
        "Fix",
        "FormError",
        "Span",
        "make_printable",
        "offset_to_line_column",
    ),
    "adql.functions": (
        "GEOMETRY_NAMES",
        "LANGUAGE_FEATURES",
        "USER_DEFINED",
    ),
    "adql.functions.object_name_functions": (
        "MAX_NAME_CHARACTERS",
        "OBJECT_NAME_FUNCTIONS",
        "NameLookupError",
        "PositionLookup",
    ),
    "adql.resolve.tableless_check": ("check_without_tables",),
    "adql.syntax.extensions": (
        "EXTENSIONS",
        "FEATURE_TYPE",
    ),
    "adql.syntax.parser": ("check_condition",),
    "adql.translation": (
        "BoundQuery",
        "SqlStatement",
        "StoredRowStatement",
        "Translation",
        "emit_look_ups",
        "emit_statement",
        "translate",
    ),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module 'adql' has no attribute '{name}'")
