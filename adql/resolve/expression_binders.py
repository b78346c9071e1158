"""The table of the functions that bind expressions, by the class of the node."""

from __future__ import annotations

from adql.resolve.array_binder import ARRAY_BINDERS
from adql.resolve.binder import BindFunctions
from adql.resolve.call_binder import CALL_BINDERS
from adql.resolve.case_binder import CASE_BINDERS
from adql.resolve.cast_binder import CAST_BINDERS
from adql.resolve.operator_binder import OPERATOR_BINDERS
from adql.resolve.predicate_binder import PREDICATE_BINDERS

EXPRESSION_BINDERS: BindFunctions = {
    **OPERATOR_BINDERS,
    **PREDICATE_BINDERS,
    **CALL_BINDERS,
    **CAST_BINDERS,
    **CASE_BINDERS,
    **ARRAY_BINDERS,
}
