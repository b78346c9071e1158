"""The columns of a catalogue as columns of a table, with the metadata in its files."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from clickhouse_schema.datatypes import Field
from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_properties import CATALOG_FILES, CatalogProperties
from tap_service.hats.reading.folder_backend import FileMissing
from tap_service.hats.reading.hats_catalogue import MAX_PROPERTIES_BYTES, HatsCatalogue, join_path
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.arrow_columns import read_arrow_schema
from tap_service.readers.column_parts import ColumnParts

#: columns of the partitioning, which older catalogues have in their files
_PARTITION_COLUMNS = ("Norder", "Dir", "Npix")

#: unit of the columns that the properties name as the position
_POSITION_UCDS = ("pos.eq.ra", "pos.eq.dec")


@dataclass(frozen=True, slots=True)
class CatalogueColumns:
    """Columns for a table: a ``tap_service.readers.table_source.TableHeader``.

    Attributes
    ----------
    path : str
        The address of the catalogue.
    fields : tuple[Field, ...]
        The columns that can be stored, without the columns of the spatial index and of the partitions. A struct of
        lists (nested-pandas) is one column for each of its lists, named ``column_list``.
    unusable : dict[str, str]
        The columns that cannot be stored, each with the reason.
    description : str
        The description of the catalogue; '' if it has none.
    notes : tuple[str, ...]
        What an operator should know about the types of the columns.
    parts : ColumnParts
        The location of each column in the files.
    options : ReadOptions
        Unused: a catalogue shows how it is read.
    """

    path: str
    fields: tuple[Field, ...]
    unusable: dict[str, str]
    description: str
    notes: tuple[str, ...]
    parts: ColumnParts
    options: ReadOptions = AS_DETECTED
    form: str = ""


def describe_columns(catalogue: HatsCatalogue) -> CatalogueColumns:
    """Return the columns of a catalogue: names and types of its files, completed by its properties.

    Raises
    ------
    ReadError
        The metadata in the files are broken.
    HatsError, StorageUnavailable
        An index of the collection cannot be read.
    """
    hidden = {catalogue.properties.spatial_index[0]}
    if set(_PARTITION_COLUMNS) <= set(catalogue.schema.names):
        hidden |= set(_PARTITION_COLUMNS)
    kept = [field for field in catalogue.schema if field.name not in hidden]
    found = read_arrow_schema(pa.schema(kept, catalogue.schema.metadata), catalogue.address)
    identity = _find_identity(catalogue)
    fields = tuple(_complete_field(field, catalogue.properties, identity) for field in found.fields)
    description = catalogue.properties.description or found.description
    return CatalogueColumns(catalogue.address, fields, found.unusable, description, found.notes, found.parts)


def _complete_field(field: Field, properties: CatalogProperties, identity: str) -> Field:
    """Return the field with the unit and the UCD that the properties imply."""
    for column, ucd in zip((properties.ra_column, properties.dec_column), _POSITION_UCDS, strict=True):
        if field.name == column:
            return replace(field, unit=field.unit or "deg", ucd=f"{ucd};meta.main")
    if field.name == identity and not field.ucd:
        return replace(field, ucd="meta.id;meta.main")
    return field


def _find_identity(catalogue: HatsCatalogue) -> str:
    """Return the column by which the collection has an index with as many rows as the catalogue; '' if there is none.

    An index has one row for all rows of a pixel that have the same value, so with equal numbers the values differ.
    """
    indexes = catalogue.collection.indexes if catalogue.collection else ()
    for column, folder in zip(indexes[::2], indexes[1::2], strict=False):
        for name in CATALOG_FILES:
            file = join_path(folder, name)
            try:
                text = catalogue.folder.read_text(file, MAX_PROPERTIES_BYTES)
            except FileMissing:
                continue
            properties = CatalogProperties.read(text, catalogue.folder.name(file))
            if properties.type != "index":
                raise HatsError(f"{catalogue.folder.name(file)}: the collection calls it an index, but it is not one")
            if properties.rows is not None and properties.rows == catalogue.properties.rows:
                return column
            break
    return ""
