"""The catalogue model: schemas, tables, columns and foreign keys, with the keys of Felis, and their storage layout.

The models are strict (no coercion, no unknown key) and frozen. A field can be given by its Felis key (``ivoa:ucd``) or
its Python name (``ucd``), in JSON documents too. ``schema_files`` reads and writes the models as YAML.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

import pyarrow as pa
from pydantic import BeforeValidator, model_validator
from pydantic import Field as Key

from clickhouse_schema.column_links import Link, Service
from clickhouse_schema.datatypes import (
    COMPLEX,
    FELIS,
    INTEGERS,
    TEXT,
    TIMESTAMP,
    XTYPES,
    ColumnType,
    Field,
    complete_arraysize,
    is_integer_in_range,
)
from clickhouse_schema.file_form import FileForm, NullTokens
from clickhouse_schema.name_columns import NameColumn
from clickhouse_schema.shape_cover import has_cover
from clickhouse_schema.strict_model import (
    Arraysize,
    Datatype,
    Index,
    Name,
    QualifierName,
    StrictModel,
    Text,
    Value,
    felis_key,
)
from clickhouse_schema.system_keys import CoordinateKeys, PhotometryKeys, TimeKeys, find_time_problem
from clickhouse_schema.table_index import TableIndex, read_indexes

#: Maximum number of columns of a table
MAX_COLUMNS = 5000

#: Greatest radius of a kept match, in arcseconds: 90 degrees
MAX_MATCH_RADIUS = 324_000.0


class Column(StrictModel):
    """A column.

    Attributes
    ----------
    length
        Maximum length of a text, or of a binary value in bytes.
    unit
        VOUnit; '' for none.
    ucd
        UCD1+; '' for none.
    values
        The values that rows may have in addition to NULL; () for any.
    if_missing
        What a load does with a file that lacks the column: 'fill' fills it with NULL, 'leave_out' leaves out the column
        if no file has it, '' rejects the file.
    null
        The integer that stands for NULL within arrays in files; None if no element is NULL.
    nulls
        The tokens that mark a missing value in files, in addition to the tokens for all columns (``Table.files``).
    wrap
        Add 360 to negative values in files, for longitudes from -180 to 180 degrees.
    """

    name: Name
    id: Text = felis_key("@id")
    datatype: Datatype
    length: Annotated[int, Key(ge=1, le=999_999_999)] | None = None
    description: Text = ""
    nullable: bool = True
    arraysize: Arraysize = felis_key("votable:arraysize")
    xtype: Text = felis_key("votable:xtype")
    votable_datatype: Text = felis_key("votable:datatype")
    utype: Text = felis_key("votable:utype")
    ucd: Text = felis_key("ivoa:ucd")
    unit: Text = felis_key("ivoa:unit")
    principal: bool = felis_key("tap:principal", False)
    std: bool = felis_key("tap:std", False)
    column_index: Index | None = felis_key("tap:column_index", None)
    coordinates: CoordinateKeys | None = felis_key("skyhouse:coosys", None)
    times: TimeKeys | None = felis_key("skyhouse:timesys", None)
    photometry: PhotometryKeys | None = felis_key("skyhouse:photometry", None)
    links: tuple[Link, ...] = felis_key("skyhouse:links", ())
    values: tuple[Value, ...] = felis_key("skyhouse:values", ())
    if_missing: Literal["", "fill", "leave_out"] = felis_key("skyhouse:if_missing")
    null: int | None = felis_key("skyhouse:null", None)
    nulls: NullTokens = felis_key("skyhouse:nulls", ())
    wrap: bool = felis_key("skyhouse:wrap", False)

    @model_validator(mode="after")
    def _check_systems(self) -> Column:
        if self.times and (problem := find_time_problem(self.type, self.unit, self.times.time_system)):
            raise ValueError(f"skyhouse:timesys {problem}")
        if self.photometry and not self.type.is_numeric:
            raise ValueError("skyhouse:photometry is for numbers: magnitudes and fluxes")
        return self

    @model_validator(mode="after")
    def _check_type(self) -> Column:
        """Check that the VOTable keys refine the datatype and do not contradict it."""
        own = FELIS[self.datatype]
        refined = TEXT if own in TEXT else {own, *(word for word, part in COMPLEX.items() if part == own)}
        if self.votable_datatype and self.votable_datatype not in refined:
            raise ValueError(
                f"votable:datatype {self.votable_datatype!r} contradicts datatype {self.datatype!r}: remove it"
            )
        if self.length is not None and own not in TEXT and self.datatype != "binary":
            raise ValueError(f"length is for text: a {self.datatype!r} has none (arrays have votable:arraysize)")
        if self.xtype == "timestamp" and own != "char":
            raise ValueError("votable:xtype 'timestamp' is for datatype 'timestamp'")
        if self.xtype in XTYPES and (self.datatype == "timestamp" or not self.type.has_fitting_xtype):
            datatypes, size = XTYPES[self.xtype]
            if datatypes is TEXT:
                raise ValueError(f"votable:xtype {self.xtype!r} is for single texts: datatype string or unicode")
            raise ValueError(f"votable:xtype {self.xtype!r} needs datatype double and votable:arraysize '{size}'")
        return self

    @model_validator(mode="after")
    def _check_null(self) -> Column:
        if self.null is None:
            return self
        if not (self.arraysize and FELIS[self.datatype] in INTEGERS):
            raise ValueError("skyhouse:null is for arrays of whole numbers: other columns need no number for NULL")
        if not is_integer_in_range(self.null, FELIS[self.datatype]):
            raise ValueError(f"skyhouse:null is {self.null}, which no {self.datatype!r} can be")
        return self

    @model_validator(mode="after")
    def _check_values(self) -> Column:
        kind = self.type
        if self.values and (kind.is_timestamp or not (kind.is_text or kind.is_integer)):
            raise ValueError(f"skyhouse:values is for texts and whole numbers, not for {self.datatype!r}")
        wrong = next((value for value in self.values if not _can_hold(value, kind)), None)
        if wrong is not None:
            raise ValueError(f"skyhouse:values has {wrong!r}, which no {self.datatype!r} can be")
        if self.wrap and not kind.is_numeric:
            raise ValueError(f"skyhouse:wrap is for longitudes in degrees, not for {self.datatype!r}")
        if self.if_missing and not self.nullable:
            raise ValueError("skyhouse:if_missing is for nullable columns: the others must be in every file")
        return self

    @property
    def type(self) -> ColumnType:
        if self.datatype == "timestamp" or self.xtype == "timestamp":
            return TIMESTAMP
        datatype = self.votable_datatype or FELIS[self.datatype]
        arraysize = complete_arraysize(self.datatype, datatype, self.arraysize, self.length)
        return ColumnType(datatype, arraysize, self.xtype, self.null)

    @property
    def field(self) -> Field:
        return Field(
            self.name,
            self.type,
            self.unit,
            self.ucd,
            self.utype,
            self.description,
            self.nullable,
            coordinate_system=self.coordinates.coordinate_system if self.coordinates else None,
            time_system=self.times.time_system if self.times else None,
            photometry=self.photometry.photometric_system if self.photometry else None,
        )


def _can_hold(value: int | str, kind: ColumnType) -> bool:
    try:
        pa.scalar(value, kind.arrow)
    except (pa.ArrowException, OverflowError):
        return False
    return kind.datatype != "char" or str(value).isascii()


class Versions(StrictModel):
    """Rows are versions of the objects that ``key`` identifies; a second table has the latest version of each.

    Attributes
    ----------
    key
        Columns that identify an object.
    by
        Column that is greatest in the latest version.
    last
        Name of the table of latest versions. By default it is the name of the table with ``_last`` at the end.
    """

    key: Annotated[tuple[str, ...], Key(min_length=1)]
    by: Text
    last: QualifierName | None = None


class Match(StrictModel):
    """Rows are pairs of rows of two tables near each other: a kept match (``clickhouse_schema.kept_match``).

    Attributes
    ----------
    left, right
        Names of the foreign keys to the tables.
    radius
        Greatest separation in arcsec.
    kind
        'all' pairs, the 'best' pair of each left row, or 'mutual' pairs, in which each row is the nearest to the other.
    left_epoch, right_epoch
        Epochs of the positions: a Julian year, or a column of years. Unless both are given, proper motions are not
        applied.
    """

    left: Text
    right: Text
    radius: Annotated[float, Key(gt=0, le=MAX_MATCH_RADIUS)]
    kind: Literal["all", "best", "mutual"] = "all"
    left_epoch: float | Text = ""
    right_epoch: float | Text = ""

    @property
    def has_epochs(self) -> bool:
        """Whether positions are moved to a common epoch."""
        return self.left_epoch != "" and self.right_epoch != ""


class Layout(StrictModel):
    """How Skyhouse stores a table.

    Attributes
    ----------
    position
        Columns of ICRS longitude and latitude in degrees; rows are stored in HEALPix order.
    id
        Columns that together identify a row; look-ups by them are fast.
    healpix_order
        Order of the coarse cells of the density table.
    time
        Column that orders the rows of one position.
    years
        Store each year of ``time`` in a separate partition.
    overlap_radius
        Radius in degrees up to which cross-matches stay within one shard.
    indexes
        Other indexes.
    parent
        Name of a foreign key: rows are on the shard of the row to which they refer, such as a time series with its
        object.
    everywhere
        Each server of a cluster has the whole table.
    row_store
        Store a second copy of each row as one value, for look-ups of whole rows by ``id``.
    versions
        Keep the latest version of each key in a second table.
    """

    position: tuple[str, str] | None = None
    id: tuple[str, ...] = ()
    healpix_order: Annotated[int, Key(ge=0, le=8)] = 5  # 12288 cells of 1.8 degrees
    time: str = ""
    years: bool = False
    overlap_radius: Annotated[float, Key(ge=0.0, le=10.0)] = 0.0
    indexes: Annotated[tuple[TableIndex, ...], BeforeValidator(read_indexes)] = ()
    parent: str = ""
    everywhere: bool = False
    row_store: bool = False
    versions: Versions | None = None

    @property
    def sorted_columns(self) -> tuple[tuple[str, ...], ...]:
        """The columns of the id and of each index by values."""
        by_values = (index.columns for index in self.indexes if index.is_sorted)
        return (*([self.id] if self.id else []), *by_values)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns with a text index."""
        return tuple(index.columns[0] for index in self.indexes if not index.is_sorted)


class ForeignKey(StrictModel):
    """``columns`` of its table hold values of ``referenced_columns`` of ``referenced_table`` (schema.table)."""

    name: Name
    id: Text = felis_key("@id")
    columns: Annotated[tuple[str, ...], Key(min_length=1)]
    referenced_table: Text = Key(validation_alias="referencedTable", serialization_alias="referencedTable")
    referenced_columns: Annotated[tuple[str, ...], Key(min_length=1)] = Key(
        validation_alias="referencedColumns", serialization_alias="referencedColumns"
    )
    description: Text = ""
    utype: Text = felis_key("votable:utype")


class Table(StrictModel):
    """A table.

    Attributes
    ----------
    coordinates
        The system of its position, shapes and proper motions; None for plain ICRS.
    files
        How its files are read.
    match
        Which pairs a kept match has; None for other tables.
    """

    name: QualifierName
    id: Text = felis_key("@id")
    description: Text = ""
    utype: Text = felis_key("votable:utype")
    table_index: Index | None = felis_key("tap:table_index", None)
    primary_key: tuple[str, ...] = felis_key("primaryKey", ())
    columns: Annotated[tuple[Column, ...], Key(min_length=1, max_length=MAX_COLUMNS)]
    keys: tuple[ForeignKey, ...] = felis_key("constraints", ())
    layout: Layout = felis_key("skyhouse:layout", Layout())
    coordinates: CoordinateKeys | None = felis_key("skyhouse:coosys", None)
    services: tuple[Service, ...] = felis_key("skyhouse:services", ())
    names: tuple[NameColumn, ...] = felis_key("skyhouse:names", ())
    files: FileForm = felis_key("skyhouse:files", FileForm())
    match: Match | None = felis_key("skyhouse:match", None)

    def get_column(self, name: str) -> Column:
        """Return the column with exactly this name.

        Parameters
        ----------
        name : str
            Name, with case.

        Returns
        -------
        Column
            The column.

        Raises
        ------
        KeyError
            The table has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def drop_columns(self, names: Collection[str]) -> Table:
        """Return the table without some columns, and without their indexes and names.

        Parameters
        ----------
        names : collection of str
            Exact names; names that the table lacks are ignored.

        Returns
        -------
        Table
            A copy. It is not checked: position, id and keys may still name a dropped column.
        """
        indexes = tuple(index for index in self.layout.indexes if not {*names}.intersection(index.columns))
        columns = tuple(column for column in self.columns if column.name not in names)
        layout = self.layout.model_copy(update={"indexes": indexes})
        kept = tuple(name for name in self.names if name.column not in names)
        return self.model_copy(update={"columns": columns, "layout": layout, "names": kept})

    @property
    def is_sharded(self) -> bool:
        """Whether a cluster distributes the rows over shards; other tables are whole on every server."""
        return bool(self.layout.position or self.layout.parent) and not self.layout.everywhere

    @property
    def parent_key(self) -> ForeignKey | None:
        """The foreign key that ``Layout.parent`` names; None if there is no such key."""
        return self.find_key(self.layout.parent)

    def find_key(self, name: str) -> ForeignKey | None:
        """Return the foreign key with this name.

        Parameters
        ----------
        name : str
            Exact name, '' for none.

        Returns
        -------
        ForeignKey or None
            None if there is no such key.
        """
        return next((key for key in self.keys if key.name == name), None)

    def is_indexed(self, name: str, with_columns: Collection[str] = ()) -> bool:
        """Whether conditions on a column avoid a scan.

        Positions are the sort key, ids and indexes by values have a projection, shapes have covers; children without a
        position are in the order of their parents. Of an id or an index of several columns only the first column
        counts, or a column for which there are values of all columns before it.

        Parameters
        ----------
        name : str
            Name of the column.
        with_columns : collection of str
            Other columns for which there are values.
        """
        layout = self.layout
        parents = self.parent_key.columns[:1] if self.parent_key else ()
        return (
            name in (layout.position or parents)
            or any(name in key and {*key[: key.index(name)]} <= {*with_columns} for key in layout.sorted_columns)
            or has_cover(self.get_column(name).type)
        )


class Example(StrictModel):
    """An example query."""

    name: Name
    query: Text
    description: Text = ""


class Schema(StrictModel):
    """A schema and its tables. ``citation`` is a bibcode, a DOI or a text, ``licence`` the licence of the data."""

    name: QualifierName
    id: Text = felis_key("@id")
    description: Text = ""
    version: Text = ""
    utype: Text = felis_key("votable:utype")
    citation: Text = felis_key("skyhouse:citation")
    licence: Text = felis_key("skyhouse:licence")
    examples: tuple[Example, ...] = felis_key("skyhouse:examples", ())
    tables: tuple[Table, ...] = ()
