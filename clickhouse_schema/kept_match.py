"""The table of a kept match, as the models of its two tables determine it. Pure.

A row is a pair: the ids of both rows, the position of the left row, by which the table is stored like the left table,
and the columns that describe the pair. On a cluster, pairs are with their left rows. ``rank`` counts the partners of a
left row from the nearest; of partners at equal separations, the partner with the lowest id comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clickhouse_schema.schema_model import Column, ForeignKey, Layout, Match, Schema, Table
from clickhouse_schema.system_keys import CoordinateKeys
from clickhouse_schema.table_index import TableIndex

SEPARATION, RANK, NEIGHBOURS, MATES = "separation", "rank", "number_of_neighbours", "number_of_mates"

#: The columns that describe a pair
MATCH_COLUMNS = (SEPARATION, RANK, NEIGHBOURS, MATES)

_PM = ("pos.pm;pos.eq.ra", "pos.pm;pos.eq.dec")
_EPOCH = "meta.ref;time.epoch"


class MatchError(Exception):
    """The tables cannot be matched; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class MatchSide:
    """One of the two tables of a kept match, with the columns of the kept match that have its ids."""

    schema: Schema
    table: Table
    key: ForeignKey
    epoch: float | str

    @property
    def name(self) -> str:
        """``schema.table``."""
        return self.key.referenced_table

    @property
    def position(self) -> tuple[str, str]:
        assert self.table.layout.position is not None  # noqa: S101  checked when the match is made
        return self.table.layout.position

    @property
    def motion(self) -> tuple[str, str] | None:
        """The columns of its proper motions in mas/yr; None if it has none."""
        return find_motion(self.table)

    @property
    def used_columns(self) -> frozenset[str]:
        """The columns on which the pairs depend."""
        moved = self.motion or () if self.epoch != "" else ()
        epoch = (self.epoch,) if isinstance(self.epoch, str) and self.epoch else ()
        return frozenset((*self.key.referenced_columns, *self.position, *moved, *epoch))


def find_motion(table: Table) -> tuple[str, str] | None:
    """Return the columns of proper motion of a table.

    Parameters
    ----------
    table : Table
        The table. Columns with the UCDs of proper motions are preferred to columns named pmra and pmdec.

    Returns
    -------
    tuple of str or None
        Names of the motion in right ascension, with cos(dec), and in declination; None unless there are both. Units are
        not checked.
    """
    found = []
    for ucd, name in zip(_PM, ("pmra", "pmdec"), strict=True):
        by_ucd = [column.name for column in table.columns if column.ucd.lower() == ucd]
        by_name = [column.name for column in table.columns if column.name.lower() == name]
        found += (by_ucd or by_name)[:1]
    return (found[0], found[1]) if len(found) == len(_PM) else None


def find_epoch(table: Table) -> float | str:
    """Return the epoch of a table's positions.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    float or str
        Name of a column of years, if there is a column named ref_epoch or with its UCD; otherwise the Julian year of
        the table's coordinate system. '' if it is unknown or Besselian.
    """
    columns = [c.name for c in table.columns if c.ucd.lower() == _EPOCH or c.name.lower() == "ref_epoch"]
    if columns:
        return columns[0]
    epoch = table.coordinates.epoch if table.coordinates is not None else ""
    return float(epoch[1:]) if epoch.startswith("J") else ""


def read_sides(schemas: Iterable[Schema], table: Table) -> tuple[MatchSide, MatchSide] | None:
    """Return the two tables of a kept match.

    Parameters
    ----------
    schemas : iterable of Schema
        The schemas of the catalogue.
    table : Table
        A table of any kind.

    Returns
    -------
    tuple of MatchSide or None
        The left and the right side, without epochs unless the match has both. None if the table is not a kept match, or
        if one of its tables was dropped.
    """
    match = table.match
    if match is None:
        return None
    tables = {f"{schema.name}.{each.name}": (schema, each) for schema in schemas for each in schema.tables}
    found = []
    for name, epoch in ((match.left, match.left_epoch), (match.right, match.right_epoch)):
        key = table.find_key(name)
        if key is None or key.referenced_table not in tables:
            return None
        found.append(MatchSide(*tables[key.referenced_table], key, epoch if match.has_epochs else ""))
    return found[0], found[1]


def find_matches_of(schemas: Iterable[Schema], name: str) -> Iterator[tuple[Schema, Table]]:
    """Yield the kept matches of a table, as left or right table.

    Parameters
    ----------
    schemas : iterable of Schema
        The schemas of the catalogue.
    name : str
        ``schema.table``, compared exactly.

    Yields
    ------
    tuple of (Schema, Table)
        The kept matches, with their schemas.
    """
    for schema in schemas:
        for table in schema.tables:
            if table.match is not None:
                keys = (table.find_key(table.match.left), table.find_key(table.match.right))
                if name in [key.referenced_table for key in keys if key is not None]:
                    yield schema, table


def build_match_table(name: str, left: tuple[Schema, Table], right: tuple[Schema, Table], match: Match) -> Table:
    """Return the model of a kept match.

    Parameters
    ----------
    name : str
        Name of the new table.
    left, right : tuple of (Schema, Table)
        Schema and table of both sides.
    match : Match
        What the match keeps. Its names of foreign keys become the names of the keys.

    Returns
    -------
    Table
        The model. An id whose name is taken gets the name of its table as a prefix, and the name of the schema too if
        the tables have equal names.

    Raises
    ------
    MatchError
        Both sides are the same table, or a side is itself a kept match or lacks an id or a position.
    """
    (left_schema, left_table), (right_schema, right_table) = left, right
    left_name, right_name = f"{left_schema.name}.{left_table.name}", f"{right_schema.name}.{right_table.name}"
    if left_name == right_name:
        raise MatchError(
            f"{left_name} cannot be matched with itself, because each row would be its own nearest row: load a part of"
            " it as another table"
        )
    for table, full_name in ((left_table, left_name), (right_table, right_name)):
        _refuse_table(table, full_name)
    taken = {name.lower() for name in (*MATCH_COLUMNS, *(left_table.layout.position or ()))}
    left_ids = {n: n for n in left_table.layout.id}
    right_ids = {n: n for n in right_table.layout.id}
    shared = {n.lower() for n in left_ids} & {n.lower() for n in right_ids}
    same_table = left_table.name.lower() == right_table.name.lower()
    for ids, schema, table in ((left_ids, left_schema, left_table), (right_ids, right_schema, right_table)):
        for column in ids:
            if column.lower() in shared or column.lower() in taken:
                ids[column] = f"{schema.name}_{table.name}_{column}" if same_table else f"{table.name}_{column}"
    columns = [
        *(_copy_id(left_table, column, ids_name) for column, ids_name in left_ids.items()),
        *(_copy_id(right_table, column, ids_name) for column, ids_name in right_ids.items()),
        *(_copy_position(left_table, column) for column in left_table.layout.position or ()),
        *_describe_pair(match, right_name),
    ]
    keys = (
        _refer(match.left, left_name, left_ids, "The first row of the pair"),
        _refer(match.right, right_name, right_ids, "The second row of the pair"),
    )
    right_columns = tuple(right_ids.values())
    parent = match.left if left_table.layout.parent else ""  # otherwise the position determines the shard
    layout = Layout(
        position=left_table.layout.position,
        id=(*left_ids.values(), *right_columns),
        healpix_order=left_table.layout.healpix_order,
        overlap_radius=left_table.layout.overlap_radius,
        parent=parent,
        everywhere=left_table.layout.everywhere,
        indexes=(TableIndex(columns=right_columns),),
    )
    return Table(
        name=name,
        description=_describe_match(match, left_name, right_name),
        primary_key=layout.id,
        columns=tuple(columns),
        keys=keys,
        layout=layout,
        coordinates=left_table.coordinates or (CoordinateKeys(system="ICRS") if match.has_epochs else None),
        match=match,
    )


def _refuse_table(table: Table, name: str) -> None:
    if table.match is not None:
        raise MatchError(f"{name} is itself a kept match: match the tables whose pairs it has")
    if not table.layout.id:
        raise MatchError(
            f"{name} has no id by which pairs could name its rows: name its columns in id of skyhouse:layout"
            " (skyhouse schema apply adds the index)"
        )
    if table.layout.position is None:
        raise MatchError(
            f"{name} has no position: name its columns in position of skyhouse:layout, and load the table again"
        )


def _copy_id(table: Table, name: str, new_name: str) -> Column:
    column = table.get_column(name)
    ucd = column.ucd.replace(";meta.main", "")
    update = {"name": new_name, "id": "", "nullable": False, "ucd": ucd, "principal": True, "column_index": None}
    return column.model_copy(update=update | {"links": (), "values": (), "if_missing": "", "nulls": (), "std": False})


def _copy_position(table: Table, name: str) -> Column:
    column = table.get_column(name)
    return column.model_copy(update={"id": "", "column_index": None, "links": (), "if_missing": "", "nulls": ()})


def _refer(name: str, table: str, ids: dict[str, str], description: str) -> ForeignKey:
    columns, referenced = tuple(ids.values()), tuple(ids)
    return ForeignKey(
        name=name, columns=columns, referenced_table=table, referenced_columns=referenced, description=description
    )


def _describe_pair(match: Match, right: str) -> Iterator[Column]:
    at_epoch = " at their common epoch" if match.has_epochs else ""
    yield Column(
        name=SEPARATION, datatype="double", nullable=False, unit="arcsec", ucd="pos.angDistance", principal=True,
        description=f"Angle between both positions{at_epoch}",
    )  # fmt: skip
    yield Column(
        name=RANK, datatype="int", nullable=False, ucd="meta.number", principal=True,
        description="Rank of the second row among the rows near the first row, from 1, the nearest",
    )  # fmt: skip
    yield Column(
        name=NEIGHBOURS, datatype="int", nullable=False, ucd="meta.number", principal=True,
        description=f"Rows of {right} within the radius of the first row",
    )  # fmt: skip
    yield Column(
        name=MATES, datatype="int", nullable=False, ucd="meta.number", principal=True,
        description="Other first rows that are paired with the same second row",
    )  # fmt: skip


def _describe_match(match: Match, left: str, right: str) -> str:
    pairs = {
        "all": f"All pairs of {left} and {right}",
        "best": f"The nearest row of {right} to each row of {left}",
        "mutual": f"Pairs of {left} and {right} in which each row is the nearest to the other",
    }[match.kind]
    moved = ", with proper motions applied" if match.has_epochs else ""
    return f"{pairs} within {match.radius:g} arcsec{moved}."
