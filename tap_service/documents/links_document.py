"""The table of links of DataLink 1.1, in any output format."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from clickhouse_schema.column_links import ResultLinks
from clickhouse_schema.datatypes import CHAR, LONG, UNICODE, ColumnType, Field
from tap_service.constants import LINKS_STANDARD, PRODUCT
from tap_service.models.data_link import DataLinks, Link
from tap_service.models.timestamps import format_instant, now
from tap_service.serializers import OK, Format, ResultInfo, Status

#: name -> type, UCD, unit and description (section 3.2); text columns are char unless a value is not ASCII
_FIELDS: dict[str, tuple[ColumnType, str, str, str]] = {
    "ID": (CHAR, "meta.id;meta.main", "", "Identifier of the request"),
    "access_url": (CHAR, "meta.ref.url", "", "URL of the data"),
    "service_def": (CHAR, "meta.ref", "", "XML ID of the descriptor of a service"),
    "error_message": (CHAR, "meta.code.error", "", "Reason why there is no URL"),
    "description": (CHAR, "meta.note", "", "Description of the link"),
    "semantics": (CHAR, "meta.code", "", "Relation to the data product: a term of www.ivoa.net/rdf/datalink/core"),
    "content_type": (CHAR, "meta.code.mime", "", "Media type of the linked file"),
    "content_length": (LONG, "phys.size;meta.file", "byte", "Approximate size of the linked file"),
    "content_qualifier": (CHAR, "", "", "Kind of data: a term of www.ivoa.net/rdf/product-type"),
}


def links_document(found: DataLinks, form: Format, title: str, *, is_cut: bool) -> bytes:
    """Return the table of links.

    Parameters
    ----------
    found : DataLinks
        The links, and the services to which they refer.
    form : Format
        The output format.
    title : str
        The title of the service.
    is_cut : bool
        Whether the request had more IDs than one answer contains.
    """
    by_column = zip(*found.links, strict=True) if found.links else [()] * len(_FIELDS)
    columns: dict[str, Sequence[object]] = dict(zip(Link._fields, by_column, strict=True))
    fields = tuple(_make_field(name, columns[name]) for name in _FIELDS)
    info = ResultInfo(
        service=title,
        software=PRODUCT,
        request_date=format_instant(now()),
        links=ResultLinks(services=found.services),
        standard_id=LINKS_STANDARD,
    )
    serializer = form.serializer(fields, info)
    arrays = [pa.array(columns[field.name], field.type.arrow) for field in fields]
    batch = pa.RecordBatch.from_arrays(arrays, names=[*_FIELDS])
    status = (
        Status("OVERFLOW", "This answer contains only the first IDs: request the others separately") if is_cut else OK
    )
    return serializer.write_header() + serializer.write_rows(batch) + b"".join(serializer.write_footer(status))


def _make_field(name: str, values: Sequence[object]) -> Field:
    kind, ucd, unit, description = _FIELDS[name]
    if kind == CHAR and not all(str(value).isascii() for value in values):
        kind = UNICODE
    return Field(name, kind, unit, ucd, "", description)
