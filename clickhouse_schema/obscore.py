"""ObsCore 1.1: recognising tables of the data model (IVOA REC 2017-05-09, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.schema_problem import Problem

#: Name and identifier of the data model, as services declare them.
DATA_MODEL = ("ObsCore-1.1", "ivo://ivoa.net/std/ObsCore#core-1.1")

#: Compared without case.
_SCHEMA, _TABLE = "ivoa", "obscore"

#: A table without one of these is not ObsCore, whatever its name.
MANDATORY = (
    *("dataproduct_type", "calib_level", "obs_collection", "obs_id", "obs_publisher_did"),
    *("access_url", "access_format", "access_estsize", "target_name"),
    *("s_ra", "s_dec", "s_fov", "s_region", "s_resolution", "s_xel1", "s_xel2"),
    *("t_min", "t_max", "t_exptime", "t_resolution", "t_xel"),
    *("em_min", "em_max", "em_res_power", "em_xel", "o_ucd", "pol_states", "pol_xel"),
    *("facility_name", "instrument_name"),
)


def find_data_models(catalogue: Catalogue) -> tuple[tuple[str, str], ...]:
    """Return name and identifier of each data model that the catalogue's tables implement."""
    named = catalogue.find_tables(_TABLE, delimited=False, schema=_SCHEMA)
    return (DATA_MODEL,) if any(not _find_missing_columns(entry.table) for entry in named) else ()


def find_obscore_warnings(schema: Schema) -> Iterator[Problem]:
    """Yield a warning for each table with the name of the data model that lacks mandatory columns."""
    for i, table in enumerate(schema.tables):
        if _has_obscore_name(schema, table) and (lacking := _find_missing_columns(table)):
            message = (
                f"{schema.name}.{table.name} lacks {', '.join(lacking)}, so it is not declared as ObsCore 1.1: "
                "see skyhouse schema show obscore"
            )
            yield Problem(("tables", i, "columns"), message)


def _has_obscore_name(schema: Schema, table: Table) -> bool:
    return (schema.name.lower(), table.name.lower()) == (_SCHEMA, _TABLE)


def _find_missing_columns(table: Table) -> list[str]:
    names = {column.name.lower() for column in table.columns}
    return [name for name in MANDATORY if name not in names]
