"""The description of columns before the rows of a VOTable: COOSYS, TIMESYS, annotations and FIELDs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache

from clickhouse_schema.column_links import ResultLinks
from clickhouse_schema.datatypes import Field
from tap_service.serializers.mivot_annotations import write_annotations
from tap_service.serializers.serializer import MAX_REMEMBERED, SourceRows
from tap_service.serializers.votable_dialect import Dialect
from tap_service.serializers.votable_links import links_by_index
from tap_service.xml_text import Markup, element, tag

#: attributes of fields that are written, but not compared
_Systems = tuple[tuple[object, ...], ...]


class ColumnIds:
    """The XML IDs of a document's coordinate systems, time systems and fields."""

    def __init__(self, fields: Sequence[Field], dialect: Dialect) -> None:
        coordinates = [dialect.convert_coordinates(field.coordinate_system) for field in fields]
        known = sorted({system for system in coordinates if system is not None})
        self.coordinates = {system: f"coosys_{number}" for number, system in enumerate(known, 1)}
        times = sorted({field.time_system for field in fields if field.time_system is not None})
        self.times = {system: f"timesys_{number}" for number, system in enumerate(times, 1)}
        #: the ID of each field's coordinate or time system, '' if it has neither
        self.refs = [
            self.coordinates[system] if system else self.times[field.time_system] if field.time_system else ""
            for field, system in zip(fields, coordinates, strict=True)
        ]
        taken = (*self.coordinates.values(), *self.times.values())
        self.fields = field_ids([field.name for field in fields], taken)


def find_ids(fields: tuple[Field, ...], dialect: Dialect) -> ColumnIds:
    """Return the IDs of a document with these fields."""
    return _remember_ids(fields, _list_systems(fields), dialect)


def describe_columns(
    fields: tuple[Field, ...], links: ResultLinks, dialect: Dialect, source_rows: SourceRows
) -> tuple[Markup, ...]:
    """Return the lines from the first COOSYS to the last FIELD.

    Parameters
    ----------
    fields : tuple[Field, ...]
        The columns.
    links : ResultLinks
        Their LINKs.
    dialect : Dialect
        The version of VOTable.
    source_rows : SourceRows
        As for ``ResultInfo``.
    """
    placed = links_by_index(links.of_columns, find_ids(fields, dialect).fields)
    return _remember_lines(fields, _list_systems(fields), tuple(placed.items()), dialect, source_rows)


def _list_systems(fields: tuple[Field, ...]) -> _Systems:
    return tuple([(field.coordinate_system, field.time_system, field.photometry) for field in fields])


@lru_cache(MAX_REMEMBERED)
def _remember_ids(fields: tuple[Field, ...], _systems: _Systems, dialect: Dialect) -> ColumnIds:
    return ColumnIds(fields, dialect)


@lru_cache(MAX_REMEMBERED)
def _remember_lines(
    fields: tuple[Field, ...],
    _systems: _Systems,
    links: tuple[tuple[int, Markup], ...],
    dialect: Dialect,
    source_rows: SourceRows,
) -> tuple[Markup, ...]:
    ids, links_of = find_ids(fields, dialect), dict(links)
    return (
        *(element("COOSYS", ID=ident, **asdict(system)) for system, ident in ids.coordinates.items()),
        *(element("TIMESYS", ID=ident, **asdict(system)) for system, ident in ids.times.items()),
        *([write_annotations(fields, ids.fields, source_rows)] if dialect.is_annotated else []),
        Markup("<TABLE>"),
        *(
            _write_field(field, ident, ref, links_of.get(index, Markup("")))
            for index, (field, ident, ref) in enumerate(zip(fields, ids.fields, ids.refs, strict=True))
        ),
    )


def _write_field(field: Field, ident: str, ref: str, links: Markup) -> Markup:
    kind = field.type
    attributes = {
        "ID": ident,
        "name": field.name,
        "datatype": kind.datatype,
        "arraysize": "" if kind.arraysize == "1" else kind.arraysize,  # 1 is the default
        "xtype": kind.xtype,
        "unit": field.unit,
        "ucd": field.ucd,
        "utype": field.utype,
        "ref": ref,
    }
    description = element("DESCRIPTION", field.description) if field.description else ""
    values = "" if kind.null is None else element("VALUES", null=str(kind.null))
    return tag("FIELD", attributes, Markup(description + values + links))


def field_ids(names: Sequence[str], taken_already: Iterable[str] = ()) -> list[str]:
    """Return unique XML IDs close to the columns' names, since astropy uses them as column names.

    No ID equals the name of another column, because clients look up references among both.
    """
    taken, own = set(taken_already), set(names)
    ids = []
    for name in names:
        base = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
        if not re.match(r"[A-Za-z_]", base):
            base = "_" + base
        ident, number = base, 1
        while ident in taken or (ident != name and ident in own):
            number += 1
            ident = f"{base}_{number}"
        taken.add(ident)
        ids.append(ident)
    return ids
