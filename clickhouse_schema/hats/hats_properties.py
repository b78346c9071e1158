"""``hats.properties`` and ``collection.properties``, in which a catalogue describes itself.

The IVOA Note "HATS" 1.0 defines the keys; the files are Java properties in UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import SPATIAL_INDEX

#: The file of a catalogue, a margin cache or an index, and the name that readers from before 2025 look for
CATALOG_FILES = ("hats.properties", "properties")

#: The file of a collection
COLLECTION_FILE = "collection.properties"

_SEPARATORS = re.compile(r"[;, \n]+")
_LINE = re.compile(r"((?:\\.|[^\\=:\s])+)[ \t\f]*[=: \t\f]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def _split_words(value: object) -> object:
    return tuple(filter(None, _SEPARATORS.split(value))) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_split_words)]


class _Properties(BaseModel):
    """Properties with their keys in the files as aliases; other keys are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    @classmethod
    def read(cls, text: str, path: str) -> Self:
        """Return the properties of a file; a property without a value counts as missing.

        Parameters
        ----------
        text : str
            Content of the file.
        path : str
            Name of the file for messages.

        Raises
        ------
        HatsError
            If a property is missing or has a wrong value.
        """
        try:
            found = {key: value for key, value in parse_properties(text).items() if value}
            return cls.model_validate(found, by_alias=True, by_name=False)
        except ValidationError as error:
            problem = error.errors()[0]
            key = ".".join(str(part) for part in problem["loc"])
            raise HatsError(f"{path}: {key}: {problem['msg']}") from None

    def write(self) -> str:
        """Return the text of the file."""
        found = self.model_dump(by_alias=True, exclude_none=True)
        return format_properties({key: _format_value(value) for key, value in found.items() if value != ()})


class CatalogProperties(_Properties):
    """Properties of a catalogue, a margin cache or an index catalogue.

    Attributes
    ----------
    primary_table
        Name of the catalogue that a margin cache or an index belongs to.
    margin_threshold
        Width of the margin in arcseconds.
    npix_suffix
        End of the names of partitions; '/' if each is a folder of files.
    """

    name: str = Field(alias="obs_collection")
    type: Literal["object", "source", "margin", "index", "association", "map", "nested"] = Field(
        alias="dataproduct_type"
    )
    rows: int | None = Field(None, alias="hats_nrows", ge=0)
    ra_column: str | None = Field(None, alias="hats_col_ra")
    dec_column: str | None = Field(None, alias="hats_col_dec")
    default_columns: Words = Field((), alias="hats_cols_default")
    healpix_column: str | None = Field(None, alias="hats_col_healpix")
    healpix_order: int | None = Field(None, alias="hats_col_healpix_order", ge=0, le=29)
    npix_suffix: str = Field(".parquet", alias="hats_npix_suffix", pattern=r"^(/|\.[\w.]{1,40})$")
    primary_table: str | None = Field(None, alias="hats_primary_table_url")
    margin_threshold: float | None = Field(None, alias="hats_margin_threshold", ge=0)
    index_column: str | None = Field(None, alias="hats_index_column")
    index_extra_columns: Words = Field((), alias="hats_index_extra_column")
    skymap_order: int | None = Field(None, alias="hats_skymap_order", ge=0, le=29)
    skymap_orders: Words = Field((), alias="hats_skymap_alt_orders")
    max_rows: int | None = Field(None, alias="hats_max_rows", ge=0)
    size_kib: int | None = Field(None, alias="hats_estsize", ge=0)
    sky_fraction: float | None = Field(None, alias="moc_sky_fraction")
    version: str | None = Field(None, alias="hats_version")
    builder: str | None = Field(None, alias="hats_builder")
    creation_date: str | None = Field(None, alias="hats_creation_date")
    description: str | None = Field(None, alias="obs_description")

    @property
    def spatial_index(self) -> tuple[str, int]:
        """Column of the spatial index in the files, and its order."""
        return self.healpix_column or SPATIAL_INDEX, 29 if self.healpix_order is None else self.healpix_order


class CollectionProperties(_Properties):
    """Properties of a collection: a catalogue, its margin caches and its indexes.

    Attributes
    ----------
    indexes
        Column and folder of each index, one after the other.
    """

    name: str = Field(alias="obs_collection")
    primary_table: str = Field(alias="hats_primary_table_url")
    margins: Words = Field((), alias="all_margins")
    default_margin: str | None = None
    indexes: Words = Field((), alias="all_indexes")
    default_index: str | None = None


def _format_value(value: object) -> str:
    return " ".join(value) if isinstance(value, tuple) else str(value)


def parse_properties(text: str) -> dict[str, str]:
    """Return the keys and values of Java properties (``java.util.Properties.load``). Raises ``HatsError``."""
    found = {}
    for line in re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*", r"\1", text).splitlines():
        stripped = line.lstrip(" \t\f")
        if not stripped or stripped[0] in "#!":
            continue
        matched = _LINE.fullmatch(stripped)
        if not matched:
            raise HatsError(f"{stripped[:60]!r} is not a property: write key=value on each line")
        found[_unescape(matched[1])] = _unescape(matched[2])
    return found


def format_properties(properties: Mapping[str, str]) -> str:
    """Return Java properties, each with its value on one line."""
    return "".join(f"{key}={' '.join(value.split())}\n".replace("\\", r"\\") for key, value in properties.items())


def _unescape(text: str) -> str:
    unescaped = _ESCAPE.sub(_read_escape, text)
    try:
        return unescaped.encode("utf-16", "surrogatepass").decode("utf-16")  # pairs of escapes are one character
    except UnicodeDecodeError:
        raise HatsError(f"{text[:60]!r} has half a surrogate pair") from None


def _read_escape(found: re.Match[str]) -> str:
    written = found[1]
    return chr(int(written[1:], 16)) if len(written) > 1 else _CONTROLS.get(written, written)
