"""The links of data products, from the rows of ivoa.ObsCore (DataLink 1.1, section 3.2).

A row of ObsCore yields the link #this to its ``access_url``, a link #preview for each other column of URLs whose UCD
contains meta.preview, and a link to each service of the table whose only parameter is the identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adql import translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.column_links import PlacedService
from clickhouse_schema.obscore import find_obscore_table
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.constants import MAX_LINK_ID_CHARACTERS, MAX_LINK_ROWS
from tap_service.models.data_link import DataLinks, Link
from tap_service.service_errors import QueryTooHeavy, ServiceUnavailable
from tap_service.services.catalogue.links_descriptor import is_links_service
from tap_service.storage.engine.engine import Engine, EngineError, QueryTimeout, Settings

#: bytes of a kbyte, the unit of access_estsize
_KBYTE = 1000

#: maximum size that links state, in kbyte; in bytes, it fits into a long
_MAX_SIZE = 1e15

#: dataproduct_type -> term of http://www.ivoa.net/rdf/product-type; other types have no term
_PRODUCT_TYPES = {
    name: f"#{name}" for name in ("image", "cube", "spectrum", "sed", "timeseries", "visibility", "measurements")
}

_KEY, _SIZE = "obs_publisher_did", "access_estsize"

#: text columns from which links are made; NULL if the table lacks the column, or has it with another type
_TEXTS = (_KEY, "access_url", "access_format", "dataproduct_type", "target_name", "obs_id", "obs_title")

_SETTINGS: Settings = {"max_execution_time": 10, "max_threads": 2}

_PREVIEW_UCD = {"meta.ref.url", "meta.preview"}

#: standard id of services with the semantics #cutout; other services are #proc
_SODA = "ivo://ivoa.net/std/soda"


@dataclass(frozen=True, slots=True)
class DatasetLinks:
    """Finds links in the ObsCore table of a catalogue, which contains the tables that the client sees."""

    engine: Engine
    catalogue: Catalogue

    def find_links(self, ids: Sequence[str]) -> DataLinks:
        """Return the links of data products.

        Parameters
        ----------
        ids : Sequence[str]
            The identifiers.

        Returns
        -------
        DataLinks
            The links of each id, in the order of ``ids``; for an unknown id, one link with an error.

        Raises
        ------
        QueryTooHeavy
            The ids have more than MAX_LINK_ROWS rows, or reading them takes too long.
        ServiceUnavailable
            The engine does not answer.
        """
        entry = find_obscore_table(self.catalogue)
        names = {} if entry is None else _find_columns(entry)
        if entry is None or _KEY not in names:
            return DataLinks(tuple(link for each in ids for link in _make_links(each, [], [], ())))
        valid = [each for each in ids if not _find_problem(each)]
        of_id: dict[str, list[Mapping[str, Any]]] = {}
        for row in self._read_rows(entry, names, valid) if valid else ():
            of_id.setdefault(row[_KEY], []).append(row)
        previews, services = _list_preview_columns(entry), _place_services(entry, names[_KEY])
        links = (link for each in ids for link in _make_links(each, of_id.get(each, []), previews, services))
        return DataLinks(tuple(links), services)

    def _read_rows(self, entry: TableEntry, names: Mapping[str, str], ids: Sequence[str]) -> list[dict[str, Any]]:
        columns = {**names, **{name: name for name in _list_preview_columns(entry)}}
        literals = ", ".join("'" + each.replace("'", "''") + "'" for each in ids)
        shown = ", ".join(name_to_adql(name) for name in columns.values())
        query = f"SELECT {shown} FROM {table_name_to_adql(entry)} WHERE {name_to_adql(names[_KEY])} IN ({literals})"
        translation = translate(query, self.catalogue, limit=MAX_LINK_ROWS + 1)
        try:
            found = self.engine.fetch_table(translation.sql, {**translation.settings, **_SETTINGS})
        except QueryTimeout as error:
            raise QueryTooHeavy("finding the links takes too long: request fewer IDs") from error
        except EngineError as error:
            raise ServiceUnavailable("links cannot be looked up now. Try again later") from error
        if found.num_rows > MAX_LINK_ROWS:
            raise QueryTooHeavy(f"these IDs have more than {MAX_LINK_ROWS:,} links: request fewer IDs")
        rows: list[dict[str, Any]] = found.rename_columns([*columns]).to_pylist()
        return rows


def _find_columns(entry: TableEntry) -> dict[str, str]:
    """Return the names of the columns from which links are made, in the table, by their names in the standard."""
    return {
        column.name.lower(): column.name
        for column in entry.table.columns
        if (column.type.is_text and column.name.lower() in _TEXTS)
        or (column.type.is_numeric and column.name.lower() == _SIZE)
    }


def _list_preview_columns(entry: TableEntry) -> list[str]:
    return [
        column.name
        for column in entry.table.columns
        if column.type.is_text and {*column.ucd.lower().split(";")} >= _PREVIEW_UCD
    ]


def _place_services(entry: TableEntry, key: str) -> tuple[PlacedService, ...]:
    """Return the services whose only parameter is ``key``, the first column of the links."""
    own = [each for each in entry.table.services if each.columns == (key,) and not is_links_service(each)]
    return tuple(PlacedService(service, {key: 0}, f"service_{number}") for number, service in enumerate(own, 1))


def _find_problem(ident: str) -> str:
    """Return an error message for an id that no data product can have; '' for other ids."""
    if not ident.isprintable():
        return "UsageError: this ID contains unprintable characters"
    if len(ident) > MAX_LINK_ID_CHARACTERS:
        return f"UsageError: this ID has more than {MAX_LINK_ID_CHARACTERS} characters"
    return ""


def _make_links(
    ident: str, rows: Sequence[Mapping[str, Any]], previews: Sequence[str], services: Sequence[PlacedService]
) -> Iterator[Link]:
    if not rows:
        problem = _find_problem(ident)
        yield Link(ident, error_message=problem or "NotFoundError: there is no data product with this ID")
    for row in rows:
        yield _make_product_link(ident, row)
        for name in previews:
            if address := row[name]:
                description = f"Preview of {_describe_product(row)}"
                yield Link(ident, access_url=address, description=description, semantics="#preview")
    for placed in services if rows else ():
        about = placed.service
        semantics = "#cutout" if about.standard_id.lower().startswith(_SODA) else "#proc"
        yield Link(
            ident,
            service_def=placed.ident,
            description=about.description or about.name,
            semantics=semantics,
            content_type=about.content_type or None,
        )


def _make_product_link(ident: str, row: Mapping[str, Any]) -> Link:
    size, address = row.get(_SIZE), row.get("access_url")
    return Link(
        ident,
        access_url=address or None,
        error_message=None if address else "DefaultFault: this data product has no URL",
        description=_describe_product(row),
        content_type=row.get("access_format") or None,
        content_length=None if size is None or not 0 <= size <= _MAX_SIZE else int(size * _KBYTE),
        content_qualifier=_PRODUCT_TYPES.get(row.get("dataproduct_type") or ""),
    )


def _describe_product(row: Mapping[str, Any]) -> str:
    if title := row.get("obs_title"):
        return str(title)
    kind, target = row.get("dataproduct_type"), row.get("target_name")
    return f"{kind or 'data product'} of {target or 'observation ' + str(row.get('obs_id'))}"
