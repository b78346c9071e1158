"""The links of data products, from the rows of ivoa.ObsCore (DataLink 1.1, section 3.2).

A row of ObsCore becomes the link #this to its ``access_url``, and a link #preview for each further column of addresses
whose UCD has the word meta.preview.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adql import translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.obscore import find_obscore_table
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.constants import MAX_LINK_ID_CHARACTERS, MAX_LINK_ROWS
from tap_service.models.data_link import Link
from tap_service.service_errors import QueryTooHeavy, ServiceUnavailable
from tap_service.storage.engine.engine import Engine, EngineError, QueryTimeout, Settings

#: Bytes of a kbyte, the unit of access_estsize
_KBYTE = 1000

#: dataproduct_type -> term of http://www.ivoa.net/rdf/product-type; there is none for the others
_PRODUCT_TYPES = {
    name: f"#{name}" for name in ("image", "cube", "spectrum", "sed", "timeseries", "visibility", "measurements")
}

#: What links tell of a row; the optional columns are NULL where a table lacks them
_COLUMNS = (
    *("obs_publisher_did", "access_url", "access_format", "access_estsize"),
    *("dataproduct_type", "target_name", "obs_id", "obs_title"),
)

_SETTINGS: Settings = {"max_execution_time": 10, "max_threads": 2}

_PREVIEW_UCD = {"meta.ref.url", "meta.preview"}


@dataclass(frozen=True, slots=True)
class DatasetLinks:
    """Finds links in the table of ObsCore of a catalogue: that of what a caller sees."""

    engine: Engine
    catalogue: Catalogue

    def find_links(self, ids: Sequence[str]) -> list[Link]:
        """Return the links of each id together, in the order of ``ids``; one with an error for an unknown id.

        Raises
        ------
        QueryTooHeavy
            There are more than MAX_LINK_ROWS rows, or reading them takes too long.
        ServiceUnavailable
            The engine does not answer.
        """
        entry = find_obscore_table(self.catalogue)
        valid = [each for each in ids if not _find_fault(each)]
        rows = self._read_rows(entry, valid) if entry is not None and valid else []
        of_id: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            of_id.setdefault(row["obs_publisher_did"], []).append(row)
        previews = [] if entry is None else _list_preview_columns(entry)
        return [link for each in ids for link in _make_links(each, of_id.get(each, []), previews)]

    def _read_rows(self, entry: TableEntry, ids: Sequence[str]) -> list[dict[str, Any]]:
        columns = {name: column for column in _COLUMNS if (name := _find_name(entry, column))}
        columns |= {name: name for name in _list_preview_columns(entry)}
        key = next(name for name, column in columns.items() if column == "obs_publisher_did")
        literals = ", ".join("'" + each.replace("'", "''") + "'" for each in ids)
        shown = ", ".join(f"{name_to_adql(name)} AS {name_to_adql(column)}" for name, column in columns.items())
        query = f"SELECT {shown} FROM {table_name_to_adql(entry)} WHERE {name_to_adql(key)} IN ({literals})"
        translation = translate(query, self.catalogue, limit=MAX_LINK_ROWS + 1)
        try:
            found = self.engine.fetch_table(translation.sql, {**translation.settings, **_SETTINGS})
        except QueryTimeout as error:
            raise QueryTooHeavy("the links take too long to find: ask for fewer IDs") from error
        except EngineError as error:
            raise ServiceUnavailable("links cannot be looked up now. Try again later") from error
        if found.num_rows > MAX_LINK_ROWS:
            raise QueryTooHeavy(f"these IDs have more than {MAX_LINK_ROWS:,} links: ask for fewer IDs")
        rows: list[dict[str, Any]] = found.rename_columns(list(columns.values())).to_pylist()
        return rows


def _find_name(entry: TableEntry, name: str) -> str:
    """Return the name of a column as the table has it, '' if it has none."""
    return next((column.name for column in entry.table.columns if column.name.lower() == name), "")


def _list_preview_columns(entry: TableEntry) -> list[str]:
    return [
        column.name
        for column in entry.table.columns
        if column.type.is_text and {*column.ucd.lower().split(";")} >= _PREVIEW_UCD
    ]


def _find_fault(ident: str) -> str:
    """Return the message for an id that no data product can have; '' for others."""
    if not ident.isprintable():
        return "UsageFault: this ID has characters that cannot be printed"
    if len(ident) > MAX_LINK_ID_CHARACTERS:
        return f"UsageFault: this ID has more than {MAX_LINK_ID_CHARACTERS} characters"
    return ""


def _make_links(ident: str, rows: Sequence[Mapping[str, Any]], previews: Sequence[str]) -> Iterator[Link]:
    if not rows:
        fault = _find_fault(ident)
        yield Link(ident, error_message=fault or "NotFoundFault: there is no data product of this ID")
    for row in rows:
        yield _make_product_link(ident, row)
        for name in previews:
            if address := row[name]:
                description = f"Preview of {_describe_product(row)}"
                yield Link(ident, access_url=address, description=description, semantics="#preview")


def _make_product_link(ident: str, row: Mapping[str, Any]) -> Link:
    size, address = row["access_estsize"], row["access_url"]
    return Link(
        ident,
        access_url=address or None,
        error_message=None if address else "DefaultFault: this data product has no address",
        description=_describe_product(row),
        content_type=row["access_format"] or None,
        content_length=None if size is None or size < 0 else size * _KBYTE,
        content_qualifier=_PRODUCT_TYPES.get(row["dataproduct_type"] or ""),
    )


def _describe_product(row: Mapping[str, Any]) -> str:
    kind = row["dataproduct_type"] or "data product"
    return row.get("obs_title") or " of ".join([kind, row["target_name"] or f"observation {row['obs_id']}"])
