"""ObsCore 1.1: recognises tables of the data model (IVOA REC 2017-05-09, sections 4 and 5) and of its extension."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.schema_problem import Problem

#: Name and identifier of the data model, as services declare them
DATA_MODEL = ("ObsCore-1.1", "ivo://ivoa.net/std/ObsCore#core-1.1")

#: Names of the tables, compared without case. The table of the extension for radio data is found by its utype
_SCHEMA, _TABLE, _RADIO_TABLE = "ivoa", "obscore", "obscore_radio"

#: A table without one of these columns is not ObsCore, whatever its name
MANDATORY = (
    *("dataproduct_type", "calib_level", "obs_collection", "obs_id", "obs_publisher_did"),
    *("access_url", "access_format", "access_estsize", "target_name"),
    *("s_ra", "s_dec", "s_fov", "s_region", "s_resolution", "s_xel1", "s_xel2"),
    *("t_min", "t_max", "t_exptime", "t_resolution", "t_xel"),
    *("em_min", "em_max", "em_res_power", "em_xel", "o_ucd", "pol_states", "pol_xel"),
    *("facility_name", "instrument_name"),
)


_DOUBLES = (
    *("s_ra", "s_dec", "s_fov", "s_resolution", "s_resolution_min", "s_resolution_max", "s_stat_error"),
    *("s_pixel_scale", "t_min", "t_max", "t_exptime", "t_resolution", "t_stat_error"),
    *("em_min", "em_max", "em_res_power", "em_res_power_min", "em_res_power_max", "em_resolution", "em_stat_error"),
    "o_stat_error",
)
_TEXTS = (
    *("dataproduct_type", "dataproduct_subtype", "obs_collection", "obs_id", "obs_title", "obs_creator_did"),
    *("obs_creator_name", "obs_publisher_did", "publisher_id", "bib_reference", "data_rights", "access_url"),
    *("access_format", "target_name", "target_class", "s_region", "s_ucd", "s_unit", "s_calib_status"),
    *("t_calib_status", "em_ucd", "em_unit", "em_calib_status", "o_ucd", "o_unit", "o_calib_status", "pol_states"),
    *("facility_name", "instrument_name", "proposal_id"),
)

#: Column -> Felis datatype, for the columns of the standard (appendix C, tables 6 and 7)
DATATYPES = {
    "calib_level": "int",
    **dict.fromkeys(("access_estsize", "s_xel1", "s_xel2", "t_xel", "em_xel", "pol_xel"), "long"),
    **dict.fromkeys(("obs_creation_date", "obs_release_date"), "timestamp"),
    **dict.fromkeys(_DOUBLES, "double"),
    **dict.fromkeys(_TEXTS, "string"),
}

#: The columns of the extension for radio data (IVOA PEN 2025-09-15, section 5): its table must have all
RADIO_COLUMNS = (
    *("obs_publisher_did", "s_resolution_min", "s_resolution_max", "s_fov_min", "s_fov_max", "f_resolution"),
    *("s_largest_angular_scale", "s_largest_angular_scale_min", "s_largest_angular_scale_max"),
    *("uv_distance_min", "uv_distance_max", "uv_distribution_ecc", "uv_distribution_fill"),
    *("instr_tel_number", "instr_tel_min_dist", "instr_tel_max_dist", "instr_tel_diameter", "instr_feed"),
    *("scan_mode", "tracking_type"),
)


def is_obscore_name(schema: object, table: object) -> bool:
    """Whether the standard defines the columns of the table with this name."""
    return (str(schema).lower(), str(table).lower()) == (_SCHEMA, _TABLE)


def find_data_models(catalogue: Catalogue) -> tuple[tuple[str, str], ...]:
    """Return the data models that the tables of the catalogue implement.

    Parameters
    ----------
    catalogue : Catalogue
        The tables to search.

    Returns
    -------
    tuple of tuple of str
        Name and IVOA identifier of each data model; () if there are none.
    """
    return () if find_obscore_table(catalogue) is None else (DATA_MODEL,)


def find_obscore_table(catalogue: Catalogue) -> TableEntry | None:
    """Return the ObsCore table of a catalogue.

    Parameters
    ----------
    catalogue : Catalogue
        The tables to search.

    Returns
    -------
    TableEntry or None
        The table ``ivoa.obscore``, compared without case; None if it is missing, or lacks a column of ``MANDATORY``.
    """
    named = catalogue.find_tables(_TABLE, delimited=False, schema=_SCHEMA)
    return next((entry for entry in named if not _find_missing_columns(entry.table, MANDATORY)), None)


def find_obscore_warnings(schema: Schema) -> Iterator[Problem]:
    """Yield a warning for each table that has a name of the standard but lacks mandatory columns."""
    if schema.name.lower() != _SCHEMA:
        return
    for i, table in enumerate(schema.tables):
        if table.name.lower() == _TABLE and (lacking := _find_missing_columns(table, MANDATORY)):
            result = "so it is not declared as ObsCore 1.1: see skyhouse schema show obscore"
        elif table.name.lower() == _RADIO_TABLE and (lacking := _find_missing_columns(table, RADIO_COLUMNS)):
            result = "which a table with this name must have: see skyhouse schema show obscore-radio"
        else:
            continue
        yield Problem(("tables", i, "columns"), f"{schema.name}.{table.name} lacks {', '.join(lacking)}, {result}")


def _find_missing_columns(table: Table, wanted: Iterable[str]) -> list[str]:
    names = {column.name.lower() for column in table.columns}
    return [name for name in wanted if name not in names]
