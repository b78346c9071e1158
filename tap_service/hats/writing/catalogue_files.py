"""The files of a collection other than its partitions, as bytes.

collection.properties
NAME/hats.properties, properties         the properties of the catalogue
NAME/partition_info.csv                  its pixels
NAME/skymap.fits, point_map.fits         rows by cell
NAME/dataset/_common_metadata            its columns
NAME/dataset/_metadata                   the footers of all partitions
NAME/dataset/Norder=K/Dir=D/Npix=N.parquet
NAME_10arcs/...                          the margin cache: the same, without maps
NAME_ID/dataset/index/part.N.parquet     the index by ID, if one column identifies rows
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.hats.hats_pixel import DATASET, SPATIAL_INDEX, HatsPixel, parse_path
from clickhouse_schema.hats.hats_properties import (
    CATALOG_FILES,
    COLLECTION_FILE,
    CatalogProperties,
    CollectionProperties,
)
from clickhouse_schema.hats.partition_info import FILE_NAME as PARTITION_INFO
from clickhouse_schema.hats.partition_info import write_partition_info
from clickhouse_schema.healpix import ORDER
from tap_service.constants import PRODUCT
from tap_service.hats.writing.catalogue_plan import CataloguePlan
from tap_service.hats.writing.hats_rows import HatsRows
from tap_service.hats.writing.sky_map import write_sky_map

COMMON_METADATA = f"{DATASET}/_common_metadata"
METADATA = f"{DATASET}/_metadata"

_SKY_MAPS = ("skymap.fits", "point_map.fits")

#: version of HATS of the files
_HATS_VERSION = "v1.0"

_UNUSABLE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Collection:
    """A table as a collection: the rows and their plan.

    Attributes
    ----------
    rows, plan
        The rows and the partitions.
    created : str
        The time of the last change of the rows, such as 2026-11-25T16:00Z; '' if unknown.
    has_index : bool
        Whether to write an index, if one column identifies rows.
    """

    rows: HatsRows
    plan: CataloguePlan
    created: str = ""
    has_index: bool = True

    @property
    def name(self) -> str:
        """The folder of the catalogue."""
        return _UNUSABLE.sub("_", self.rows.entry.table.name)

    @property
    def margin_name(self) -> str:
        """The folder of the margin cache; '' if there is none."""
        return f"{self.name}_{self.plan.margin_threshold:g}arcs" if self.plan.margin_threshold else ""

    @property
    def index_name(self) -> str:
        """The folder of the index; '' if there is none. Lists of properties cannot name a column with white space."""
        column = self.rows.id_column if self.has_index else ""
        return f"{self.name}_{column}" if column and not _UNUSABLE.search(column) else ""

    @property
    def folders(self) -> tuple[str, ...]:
        """The existing folders."""
        return tuple(filter(None, (self.name, self.margin_name, self.index_name)))

    def list_pixels(self, name: str) -> Mapping[HatsPixel, int]:
        """Return the pixels that have a file.

        Parameters
        ----------
        name : str
            The name of the catalogue or of its margin cache.

        Returns
        -------
        Mapping[HatsPixel, int]
            The number of rows by pixel.
        """
        return self.plan.margins if name == self.margin_name else self.plan.partitions


def write_collection_files(collection: Collection) -> dict[str, bytes]:
    """Write the files that depend only on the plan, not on values of rows.

    Parameters
    ----------
    collection : Collection
        The collection.

    Returns
    -------
    dict[str, bytes]
        The contents by the paths below the collection.
    """
    properties = CollectionProperties(
        obs_collection=collection.rows.entry.qualified_name,
        hats_primary_table_url=collection.name,
        all_margins=tuple(filter(None, [collection.margin_name])),
        default_margin=collection.margin_name or None,
        all_indexes=(collection.rows.id_column, collection.index_name) if collection.index_name else (),
        default_index=collection.rows.id_column if collection.index_name else None,
    )
    found = {COLLECTION_FILE: properties.write().encode()}
    for name in collection.folders:
        found |= {f"{name}/{path}": content for path, content in _write_catalogue_files(collection, name).items()}
    return found


def _write_catalogue_files(collection: Collection, name: str) -> dict[str, bytes]:
    properties = describe_catalogue(collection, name).write().encode()
    found = dict.fromkeys(CATALOG_FILES, properties)
    if name == collection.index_name:
        return found | {COMMON_METADATA: write_footer(collection.rows.index_schema, {})}
    found[PARTITION_INFO] = write_partition_info(collection.list_pixels(name)).encode()
    found[COMMON_METADATA] = write_footer(collection.rows.schema, {})
    if name == collection.name:
        sky_map = write_sky_map(collection.plan.density)
        found |= dict.fromkeys(_SKY_MAPS, sky_map)
    return found


def is_catalogue_file(path: str) -> bool:
    """Return whether a catalogue or margin cache may have a file at a path.

    Parameters
    ----------
    path : str
        The path below the folder of the catalogue. Paths of partitions count only in the form that ``build_path``
        writes.
    """
    if path in (*CATALOG_FILES, PARTITION_INFO, COMMON_METADATA, METADATA, *_SKY_MAPS):
        return True
    pixel = parse_path(path)
    return pixel is not None and path == pixel.build_path()


def describe_catalogue(collection: Collection, name: str) -> CatalogProperties:
    """Return the properties of the catalogue, the margin cache or the index ``name``."""
    rows, plan, entry = collection.rows, collection.plan, collection.rows.entry
    pixels = collection.list_pixels(name)
    lon, lat = rows.position_columns
    shared = {
        "name": name if name != collection.name else entry.qualified_name,
        "version": _HATS_VERSION,
        "builder": PRODUCT,
        "creation_date": collection.created or None,
        "obs_copyright": entry.schema.licence or None,
        "bib_reference": entry.schema.citation or None,
    }
    if name == collection.index_name:
        about = {"type": "index", "rows": plan.rows, "index_column": rows.id_column, "primary_table": collection.name}
        return CatalogProperties.model_validate(shared | about)
    about = {
        "type": "object",
        "rows": sum(pixels.values()),
        "ra_column": lon,
        "dec_column": lat,
        "healpix_column": SPATIAL_INDEX,
        "healpix_order": ORDER,
        "sky_fraction": round(sum(1 / (12 << 2 * pixel.order) for pixel in pixels), 5),
    }
    if name == collection.name:
        about |= {
            "max_rows": plan.max_rows,
            "skymap_order": plan.density.order,
            "description": _describe_rows(collection) or None,
        }
    else:
        about |= {"type": "margin", "primary_table": collection.name, "margin_threshold": plan.margin_threshold}
    return CatalogProperties.model_validate(shared | about)


def _describe_rows(collection: Collection) -> str:
    described, lost = collection.rows.entry.table.description, collection.plan.lost_rows
    return f"{described} ({lost})".strip() if lost else described


def write_footer(schema: pa.Schema, footers: Mapping[str, pq.FileMetaData]) -> bytes:
    """Return a Parquet file without rows: ``_common_metadata``, or ``_metadata`` with the footers of files.

    Parameters
    ----------
    schema : pa.Schema
        The columns.
    footers : Mapping[str, pq.FileMetaData]
        Footers by the paths of their files below the folder of the result.
    """
    out = io.BytesIO()
    pq.write_metadata(schema, out, metadata_collector=list(_name_files(footers)))
    return out.getvalue()


def _name_files(footers: Mapping[str, pq.FileMetaData]) -> Iterable[pq.FileMetaData]:
    for path, footer in footers.items():
        footer.set_file_path(path)
        yield footer
