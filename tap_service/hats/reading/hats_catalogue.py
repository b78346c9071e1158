"""A HATS catalogue as its own files describe it: properties, partitions, columns. No row is read here."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import DATASET, HatsPixel
from clickhouse_schema.hats.hats_properties import (
    CATALOG_FILES,
    COLLECTION_FILE,
    CatalogProperties,
    CollectionProperties,
)
from tap_service.hats.reading.catalogue_folder import CatalogueFolder
from tap_service.hats.reading.folder_backend import FileMissing
from tap_service.hats.reading.parquet_file import open_parquet
from tap_service.hats.reading.pixel_list import find_pixels

MAX_PROPERTIES_BYTES = 1 << 20

#: a Parquet file without rows, which has the columns with their metadata
_COMMON_METADATA = f"{DATASET}/_common_metadata"

#: types of catalogues whose rows are the rows of a table
_TABLES = ("object", "source", "nested")


@dataclass(frozen=True, slots=True)
class HatsCatalogue:
    """A catalogue of rows.

    Attributes
    ----------
    folder : CatalogueFolder
        The folder that was named: the catalogue, or its collection.
    path : str
        The catalogue's folder below it; '' if they are the same.
    properties : CatalogProperties
        Its properties.
    properties_path : str
        The path of their file.
    pixels : tuple[HatsPixel, ...]
        The pixels of the partitions, in their order on the sky.
    schema : pa.Schema
        The columns of the files, with their metadata.
    collection : CollectionProperties | None
        The properties of its collection, if the collection was named.
    """

    folder: CatalogueFolder
    path: str
    properties: CatalogProperties
    properties_path: str
    pixels: tuple[HatsPixel, ...]
    schema: pa.Schema
    collection: CollectionProperties | None

    @property
    def address(self) -> str:
        """The catalogue's address, for messages."""
        return self.folder.name(self.path) if self.path else self.folder.address

    @property
    def spatial_index(self) -> tuple[str, int] | None:
        """Column of the spatial index and its order; None if the files have none."""
        column, order = self.properties.spatial_index
        return (column, order) if column in self.schema.names else None

    def find_files(self, pixel: HatsPixel) -> list[str]:
        """Return the paths, below the folder, of the files of a partition: one, unless each partition is a folder.

        Parameters
        ----------
        pixel : HatsPixel
            The pixel of the partition.

        Raises
        ------
        FileMissing
            The folder of the partition has no Parquet files.
        HatsError, StorageUnavailable
            The files of a folder cannot be listed.
        """
        path = join_path(self.path, pixel.build_path(self.properties.npix_suffix))
        if not path.endswith("/"):
            return [path]
        found = sorted(name for name in self.folder.list_files(path.rstrip("/")) if name.endswith(".parquet"))
        if not found:
            raise FileMissing(f"{self.folder.name(path)} has no Parquet files")
        return found

    def check_columns(self, schema: pa.Schema, name: str) -> None:
        """Check that a file has the catalogue's columns with their types, in any order.

        Parameters
        ----------
        schema : pa.Schema
            The columns of the file.
        name : str
            The file, for the message.

        Raises
        ------
        HatsError
            It has other columns.
        """
        _refuse_repeated_columns(name, schema)
        wanted, found = _list_types(self.schema), _list_types(schema)
        if wanted == found:
            return
        differences = [
            *(f"it has no {column}" for column in wanted if column not in found),
            *(f"{column} is new" for column in found if column not in wanted),
            *(
                f"{column} is {found[column]} instead of {kind}"
                for column, kind in wanted.items()
                if found.get(column, kind) != kind
            ),
        ]
        more = f" and {len(differences) - 3} more" if len(differences) > 3 else ""
        raise HatsError(
            f"{name} has different columns from the catalogue: {'; '.join(differences[:3])}{more}."
            " All partitions need the same columns: write the catalogue again"
        )


def open_catalogue(folder: CatalogueFolder) -> HatsCatalogue:
    """Open the catalogue in a folder; for a collection, its primary table.

    Raises
    ------
    HatsError
        The folder is not a HATS catalogue, or is a catalogue without rows: a margin cache, an index, a map. Or its
        files contradict each other or name something outside the folder.
    FileMissing, StorageUnavailable
        A necessary file cannot be read.
    """
    collection = _read_collection(folder)
    path = "" if collection is None else _check_primary(folder, collection)
    properties_path, properties = _read_properties(folder, path)
    _refuse_other_kinds(folder, path, properties)
    pixels = tuple(find_pixels(folder, path, properties.npix_suffix))
    schema = _read_schema(folder, path, properties, pixels[0])
    name = folder.name(path).rstrip("/")
    _refuse_repeated_columns(name, schema)
    _refuse_missing_columns(name, properties, schema)
    return HatsCatalogue(folder, path, properties, properties_path, pixels, schema, collection)


def join_path(folder: str, path: str) -> str:
    """Return ``path`` below ``folder``, which may be ''."""
    return f"{folder}/{path}" if folder else path


def _read_collection(folder: CatalogueFolder) -> CollectionProperties | None:
    try:
        text = folder.read_text(COLLECTION_FILE, MAX_PROPERTIES_BYTES)
    except FileMissing:
        return None
    return CollectionProperties.read(text, folder.name(COLLECTION_FILE))


def _check_primary(folder: CatalogueFolder, collection: CollectionProperties) -> str:
    """Return the folder of a collection's primary table."""
    path = collection.primary_table.removeprefix("./").rstrip("/")
    if not re.fullmatch(r"[^/:\\?#\s]+(/[^/:\\?#\s]+)*", path) or ".." in path.split("/"):
        raise HatsError(
            f"{folder.name(COLLECTION_FILE)}: the primary table is {collection.primary_table[:200]!r}, which is not"
            " inside the collection: nothing outside the named folder is read. Name the catalogue itself"
        )
    return path


def _read_properties(folder: CatalogueFolder, path: str) -> tuple[str, CatalogProperties]:
    """Return the path of the file, and its content."""
    for name in CATALOG_FILES:
        file = join_path(path, name)
        try:
            text = folder.read_text(file, MAX_PROPERTIES_BYTES)
        except FileMissing:
            continue
        return file, CatalogProperties.read(text, folder.name(file))
    raise FileMissing(
        f"{folder.name(path).rstrip('/')} is not a HATS catalogue: it has none of {', '.join(CATALOG_FILES)}"
        f" and {COLLECTION_FILE}"
    )


def _refuse_other_kinds(folder: CatalogueFolder, path: str, properties: CatalogProperties) -> None:
    if properties.type in _TABLES:
        return
    name = folder.name(path).rstrip("/")
    other = f" {properties.primary_table!r}" if properties.primary_table else ""
    if properties.type == "margin":
        raise HatsError(
            f"{name} is a margin cache: its rows are copies of rows of the catalogue{other}. Name that catalogue"
        )
    raise HatsError(
        f"{name} is a catalogue of the type {properties.type}, which has no rows: name the catalogue{other}"
        f" that it belongs to (types with rows: {', '.join(_TABLES)})"
    )


def _read_schema(folder: CatalogueFolder, path: str, properties: CatalogProperties, first: HatsPixel) -> pa.Schema:
    file = join_path(path, _COMMON_METADATA)
    try:
        found = open_parquet(folder, file)
    except FileMissing:
        if properties.npix_suffix == "/":
            raise
        found = open_parquet(folder, join_path(path, first.build_path(properties.npix_suffix)))
    # metadata that were added when the file was closed are only in the footer
    return found.schema_arrow.with_metadata(found.metadata.metadata)


def _refuse_missing_columns(name: str, properties: CatalogProperties, schema: pa.Schema) -> None:
    named = {
        "hats_col_ra": properties.ra_column,
        "hats_col_dec": properties.dec_column,
        "hats_col_healpix": properties.healpix_column,
    }
    for key, column in named.items():
        if column and column not in schema.names:
            raise HatsError(f"{name}: {key} names the column {column[:80]!r}, which the files do not have")


def _refuse_repeated_columns(name: str, schema: pa.Schema) -> None:
    repeated = [column for column, count in Counter(schema.names).items() if count > 1]
    if repeated:
        raise HatsError(f"{name} has more than one column called {repeated[0][:80]!r}")


def _list_types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {field.name: _plain_type(field.type) for field in schema}


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type, without details of how Arrow stores it."""
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return pa.list_(_plain_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _plain_type(field.type)) for field in kind])
    return kind
