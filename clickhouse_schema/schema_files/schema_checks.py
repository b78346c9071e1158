"""Checks the valid parts of a schema for contradictions: names, layout, links, keys."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from clickhouse_schema.column_links import Service
from clickhouse_schema.kept_match import MATCH_COLUMNS
from clickhouse_schema.latest_versions import build_latest_table
from clickhouse_schema.row_store import MAX_FIXED_BYTES, MAX_ROW_COLUMNS
from clickhouse_schema.schema_files.column_names import find_column, missing_column_problem
from clickhouse_schema.schema_files.index_checks import find_index_problems
from clickhouse_schema.schema_files.names_checks import find_names_problems
from clickhouse_schema.schema_model import Column, ForeignKey, Schema, Table, Versions
from clickhouse_schema.schema_problem import Problem, YamlPath
from clickhouse_schema.ucd_words import find_ucd_problem
from clickhouse_schema.vounit import normalise_unit

#: Databases of ClickHouse, of Skyhouse and of the standard, and the schema of user tables
RESERVED_SCHEMAS = frozenset(
    {
        *("system", "information_schema", "default", "tap_upload", "tap_schema", "mydb"),
        *("skyhouse", "skyhouse_additions", "skyhouse_users"),
    }
)

#: The schemas of tables that users share: ``mydb_USER``
_RESERVED_BEGINNING = "mydb_"

#: Suffixes of tables that belong to a table: unfinished loads, and its parts on a cluster
_RESERVED_ENDING = re.compile(
    r"__((loading|new|append|moved|homes|(local|overlap)(_rows)?|margin)|(in)?[0-9]+(_[0-9]+)?)$", re.I
)

#: Column names that ClickHouse rejects
UNSTORABLE = frozenset({"_block_number", "_block_offset", "_row_exists"})

#: Columns that the storage adds, and virtual columns of ClickHouse
_RESERVED_COLUMNS = frozenset(
    {"hpx29", "_part", "_part_index", "_part_uuid", "_part_offset", "_part_starting_offset", "_part_data_version"}
    | {"_partition_id", "_partition_value", "_sample_factor", "_table", "_database", "_row_exists", "_shard_num"}
    | {"_block_number", "_block_offset", "_disk_name", "_distance"}
)


def find_problems(schema: Schema) -> list[Problem]:
    """Find all contradictions in a schema: names, layout, links, services and keys.

    Parameters
    ----------
    schema : Schema
        The valid parts of a schema. Only its own tables are known, not the catalogue.

    Returns
    -------
    list of Problem
        Problems with the paths of its YAML; [] if the schema can be used.
    """
    problems = list(_find_schema_problems(schema))
    for i, table in enumerate(schema.tables):
        path: YamlPath = ("tables", i)
        problems += find_table_problems(table, path)
        problems += _find_link_problems(table, path)
        for j, service in enumerate(table.services):
            problems += _find_service_problems(table, service, (*path, "skyhouse:services", j))
        for j, key in enumerate(table.keys):
            problems += _find_key_problems(schema, table, key, (*path, "constraints", j))
        problems += _find_parent_problems(schema, table, (*path, "skyhouse:layout", "parent"))
    return problems


def find_doubts(schema: Schema) -> Iterator[Problem]:
    """Find what is probably a mistake but not a contradiction; paths are paths of the YAML."""
    for i, table in enumerate(schema.tables):
        primary, own = {*table.primary_key}, {*table.layout.id}
        if primary and own and not (primary <= own or own <= primary):
            names, others = ", ".join(table.primary_key), ", ".join(table.layout.id)
            message = f"primaryKey is {names}, but the id of skyhouse:layout is {others}: both identify a row"
            yield Problem(("tables", i, "primaryKey"), message)


def find_table_problems(table: Table, path: YamlPath = ()) -> list[Problem]:
    """Find contradictions in the names, the layout, the object names and the kept match of one table.

    Parameters
    ----------
    table : Table
        The table.
    path : YamlPath, optional
        Path of the table in its document; () for a document that is only the table.

    Returns
    -------
    list of Problem
        Problems with paths that start with ``path``.
    """
    return [
        *_find_name_problems(table, path),
        *_find_layout_problems(table, (*path, "skyhouse:layout")),
        *find_names_problems(table, (*path, "skyhouse:names")),
        *_find_match_problems(table, (*path, "skyhouse:match")),
    ]


def _find_schema_problems(schema: Schema) -> Iterator[Problem]:
    if schema.name.lower() in RESERVED_SCHEMAS or schema.name.lower().startswith(_RESERVED_BEGINNING):
        yield Problem(("name",), f"the schema name {schema.name} is reserved: choose another")
    tables: list[tuple[str, YamlPath]] = [(t.name, ("tables", i, "name")) for i, t in enumerate(schema.tables)]
    for i, table in enumerate(schema.tables):
        latest = build_latest_table(table)
        if latest is not None:
            path: YamlPath = ("tables", i, "skyhouse:layout", "versions")
            tables.append((latest.name, path))
            if _RESERVED_ENDING.search(latest.name):
                yield Problem(path, f"the table name {latest.name} has a suffix that loads use: choose another in last")
    yield from _find_repeated_names("table", tables)
    named = [(example.name, ("skyhouse:examples", i, "name")) for i, example in enumerate(schema.examples)]
    yield from _find_repeated_names("example", named)


def _find_name_problems(table: Table, path: YamlPath) -> Iterator[Problem]:
    if _RESERVED_ENDING.search(table.name):
        yield Problem((*path, "name"), f"the table name {table.name} has a suffix that loads use: choose another")
    yield from _find_repeated_names(
        "column", [(c.name, (*path, "columns", i, "name")) for i, c in enumerate(table.columns)]
    )
    yield from _find_repeated_names(
        "key", [(key.name, (*path, "constraints", i, "name")) for i, key in enumerate(table.keys)]
    )
    services = [(s.name, (*path, "skyhouse:services", i, "name")) for i, s in enumerate(table.services)]
    yield from _find_repeated_names("service", services)
    for i, column in enumerate(table.columns):
        if is_reserved_column(column.name):
            message = f"the column name {column.name} is reserved for the storage: choose another"
            yield Problem((*path, "columns", i, "name"), message)


def is_reserved_column(name: str) -> bool:
    """Whether the name could be confused with a column that the storage adds."""
    return name.lower() in _RESERVED_COLUMNS or name.startswith("__")


def _find_repeated_names(what: str, named: Iterable[tuple[str, YamlPath]]) -> Iterator[Problem]:
    """Find names that differ only in case: ADQL's regular identifiers could not distinguish them."""
    first: dict[str, str] = {}
    for name, path in named:
        if name.lower() in first:
            yield Problem(path, f"the {what} {name} occurs twice (as {first[name.lower()]}; case is ignored)")
        first.setdefault(name.lower(), name)


def _find_layout_problems(table: Table, path: YamlPath) -> Iterator[Problem]:
    layout = table.layout
    if layout.position:
        yield from _find_position_problems(table, layout.position, (*path, "position"))
    yield from find_index_problems(table, path)
    yield from _find_repeated_names("id column", [(name, (*path, "id")) for name in layout.id])
    if layout.parent and table.parent_key is None:
        close = difflib.get_close_matches(layout.parent, [key.name for key in table.keys], 1)
        hint = f": did you mean {close[0]}?" if close else " among its constraints"
        yield Problem((*path, "parent"), f"the table {table.name} has no foreign key {layout.parent}{hint}")
    if layout.parent and layout.everywhere:
        message = (
            "everywhere contradicts parent: a table that is whole on each server is not sharded; remove one of them"
        )
        yield Problem((*path, "everywhere"), message)
    yield from _find_time_problems(table, path)
    if layout.row_store:
        yield from _find_row_store_problems(table, (*path, "row_store"))
    if layout.versions is not None:
        yield from _find_versions_problems(table, layout.versions, (*path, "versions"))


def _find_versions_problems(table: Table, versions: Versions, path: YamlPath) -> Iterator[Problem]:
    yield from _find_repeated_names("key column", [(name, (*path, "key")) for name in versions.key])
    for name in versions.key:
        column = find_column(table, name)
        if column is None:
            yield missing_column_problem(table, name, (*path, "key"))
        elif column.nullable or column.type.is_array:
            reason = "is an array" if column.type.is_array else "may be NULL: it needs nullable: false"
            yield Problem((*path, "key"), f"the column {name} is in the key of versions, but {reason}")
    column = find_column(table, versions.by)
    if column is None:
        yield missing_column_problem(table, versions.by, (*path, "by"))
    elif column.type.is_array or not (column.type.is_numeric or column.type.is_text or column.type.is_timestamp):
        kind = column.type.adql
        yield Problem((*path, "by"), f"the column {versions.by} is {kind}: versions cannot be ordered by it")
    if versions.by in versions.key:
        yield Problem((*path, "by"), f"{versions.by} is in the key: versions of one key must differ in it")
    if table.layout.id and {*table.layout.id} <= {*versions.key}:
        wanted = ", ".join(dict.fromkeys([*versions.key, versions.by]))
        yield Problem(
            (*path, "key"),
            f"the id of {table.name} has only columns of the key, so each key has one row: change the id to [{wanted}]",
        )


def _find_match_problems(table: Table, path: YamlPath) -> Iterator[Problem]:
    if table.match is None:
        return
    for side in ("left", "right"):
        name = getattr(table.match, side)
        if table.find_key(name) is None:
            yield Problem((*path, side), f"the table {table.name} has no foreign key {name} among its constraints")
    present = {column.name for column in table.columns}
    if missing := [name for name in MATCH_COLUMNS if name not in present]:
        message = f"the kept match {table.name} has no column {', '.join(missing)}: create it with skyhouse match make"
        yield Problem(path, message)


def _find_row_store_problems(table: Table, path: YamlPath) -> Iterator[Problem]:
    if not table.layout.id:
        yield Problem(path, "row_store is for look-ups by id: name the columns that identify a row in id")
    if len(table.columns) > MAX_ROW_COLUMNS:
        count = f"{len(table.columns):,} columns, but a row store can have at most {MAX_ROW_COLUMNS:,}"
        yield Problem(path, f"the table {table.name} has {count}: leave row_store out")
    wide = max(table.columns, key=lambda column: column.type.min_bytes)
    if sum(column.type.min_bytes for column in table.columns) > MAX_FIXED_BYTES:
        size = f"{wide.type.min_bytes:,} bytes of {wide.name}"
        yield Problem(
            path,
            f"the rows of {table.name} are too wide for a row store ({size}, at most {MAX_FIXED_BYTES:,} in all): "
            "leave row_store out, or put such arrays into a separate table",
        )


def _find_time_problems(table: Table, path: YamlPath) -> Iterator[Problem]:
    layout = table.layout
    if layout.years and not layout.time:
        yield Problem((*path, "years"), "years needs a time column: name it in time")
    if layout.time:
        column = find_column(table, layout.time)
        if column is None:
            yield missing_column_problem(table, layout.time, (*path, "time"))
        elif not (column.type.is_numeric or column.type.is_timestamp):
            kind = column.type.adql
            yield Problem((*path, "time"), f"the time column {layout.time} is {kind}: it must be a number or timestamp")


def _find_position_problems(table: Table, position: tuple[str, str], path: YamlPath) -> Iterator[Problem]:
    if position[0] == position[1]:
        yield Problem(path, f"position names {position[0]} twice: it must be [longitude, latitude]")
    for name in position:
        column = find_column(table, name)
        if column is None:
            yield missing_column_problem(table, name, path)
        elif not column.type.is_numeric:
            yield Problem(path, f"the position column {name} is {column.type.adql}: it must be a number of degrees")
        elif column.unit not in ("", "deg"):
            yield Problem(
                path, f"the position column {name} is in {column.unit}: convert it to deg, or leave position out"
            )


def _find_link_problems(table: Table, path: YamlPath) -> Iterator[Problem]:
    for i, owner in enumerate(table.columns):
        for j, link in enumerate(owner.links):
            href: YamlPath = (*path, "columns", i, "skyhouse:links", j, "href")
            for name in link.columns:
                column = find_column(table, name)
                if column is None:
                    yield missing_column_problem(table, name, href)
                elif column.type.is_array:
                    yield Problem(href, f"the column {name} is an array: a link takes numbers and texts")


def _find_service_problems(table: Table, service: Service, path: YamlPath) -> Iterator[Problem]:
    for i, param in enumerate(service.input_params):
        at: YamlPath = (*path, "inputParams", i)
        if param.ref and find_column(table, param.ref) is None:
            yield missing_column_problem(table, param.ref, (*at, "ref"))
        if param.unit and normalise_unit(param.unit) != param.unit:
            meant = normalise_unit(param.unit) or "one such as km.s**-1"
            yield Problem((*at, "ivoa:unit"), f"ivoa:unit {param.unit!r} is not a VOUnit: write {meant}")
        if param.ucd and (wrong := find_ucd_problem(param.ucd)):
            yield Problem((*at, "ivoa:ucd"), f"ivoa:ucd {param.ucd!r} {wrong}")
    named = [(param.name, (*path, "inputParams", i, "name")) for i, param in enumerate(service.input_params)]
    yield from _find_repeated_names("parameter", named)


def _find_key_problems(schema: Schema, table: Table, key: ForeignKey, path: YamlPath) -> Iterator[Problem]:
    if len(key.columns) != len(key.referenced_columns):
        counts = f"{len(key.columns)} columns but refers to {len(key.referenced_columns)}"
        yield Problem((*path, "columns"), f"the key {key.name} has {counts}")
        return
    target = _find_referenced_table(schema, key)
    if target is None:
        return  # the other table is in another file
    for own, other in zip(key.columns, key.referenced_columns, strict=True):
        ours, theirs = find_column(table, own), find_column(target, other)
        if ours is None:
            yield missing_column_problem(table, own, (*path, "columns"))
        elif theirs is None:
            yield Problem((*path, "referencedColumns"), f"{key.referenced_table} has no column {other}")
        elif _classify_values(ours) != _classify_values(theirs):
            types = f"{own} is {ours.type.adql}, {other} is {theirs.type.adql}"
            yield Problem((*path, "columns"), f"the key {key.name} compares values that cannot be equal: {types}")


def _find_parent_problems(schema: Schema, table: Table, path: YamlPath) -> Iterator[Problem]:
    """Check that rows can be on the shards of their parents; for a parent in another schema, a load checks this."""
    key = table.parent_key
    parent = _find_referenced_table(schema, key) if key else None
    if key is None or parent is None:
        return
    line = [table]
    while parent is not None and parent not in line:
        line.append(parent)
        above = parent.parent_key
        parent = _find_referenced_table(schema, above) if above else None
    if parent is not None:
        yield Problem(path, f"the parents of {table.name} form a cycle: {' of '.join(t.name for t in [*line, parent])}")
    elif not line[1].is_sharded:
        how = "is on every server" if line[1].layout.everywhere else "has neither position nor parent"
        yield Problem(path, f"the parent {key.referenced_table} {how}, so no shard has its rows: leave parent out")
    elif {*key.referenced_columns} != {*line[1].layout.id}:
        wanted = ", ".join(line[1].layout.id) or "none"
        yield Problem(path, f"the key {key.name} must refer to the id of {key.referenced_table} ({wanted})")


def _find_referenced_table(schema: Schema, key: ForeignKey) -> Table | None:
    owner, _, name = key.referenced_table.partition(".")
    return next((table for table in schema.tables if owner == schema.name and table.name == name), None)


def _classify_values(column: Column) -> str:
    if column.type.is_array:
        return "array"
    return "text" if column.type.is_text else "number" if column.type.is_numeric else column.type.adql
