"""Checks of a load, before it changes anything."""

from __future__ import annotations

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.kept_match import find_matches_of, read_sides
from clickhouse_schema.latest_versions import build_latest_table, find_versioned_table
from clickhouse_schema.schema_model import Table
from loaders.load_error import LoadError
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.table_name import split_name
from loaders.storage.load_state import TableState
from loaders.storage.storage_protocol import TableStorage


def refuse_mode(request: LoadRequest, live: TableState | None, storage: TableStorage, table: Table) -> None:
    """Raise ``LoadError`` if the mode does not suit the existing table."""
    if request.mode == "create" and storage.live.has_table():
        raise LoadError(
            f"{request.table} exists: add to it with skyhouse load --append, replace it with --replace, or choose"
            " another name"
        )
    if live is None:
        if request.mode == "append" and storage.live.has_table():
            raise LoadError(
                f"there is no record of how {request.table} was loaded, so nothing can be appended:"
                " load all of it with --replace"
            )
        return
    old = live.entry.tables[0]
    if request.mode == "append" and old != table:
        raise LoadError(f"{request.schema_file} describes other columns than {request.table} has: leave out --schema")
    if storage.is_cluster and old.is_sharded != table.is_sharded:
        state = "sharded" if table.is_sharded else "whole on every server"
        raise LoadError(f"{request.table} cannot become {state} while it exists: drop it first")


def refuse_attached(catalogue: Catalogue, name: str) -> None:
    """Check that a table is not attached, because the rows of an attached table are in its files.

    Parameters
    ----------
    catalogue : Catalogue
        The current catalogue.
    name : str
        ``schema.table``.

    Raises
    ------
    LoadError
        The table is attached.
    """
    entry = catalogue.find_entry(*split_name(name))
    if entry is not None and entry.attached is not None:
        raise LoadError(
            f"{name} is attached, so its rows are in the files of {entry.attached.attachment.address}:"
            f" read them again with skyhouse attach --refresh --table {name}, or remove the table with skyhouse drop"
        )


def refuse_match(table: Table | None, catalogue: Catalogue, name: str) -> None:
    """Raise ``LoadError`` if the table is, or would be as ``table``, a kept match: its rows follow from others."""
    entry = catalogue.find_entry(*split_name(name))
    known = entry.table if entry is not None else None
    if any(each is not None and each.match is not None for each in (table, known)):
        raise LoadError(
            f"{name} is a kept match, whose rows follow from its tables: change these, or make it with skyhouse"
            " match make"
        )


def refuse_lost_columns(catalogue: Catalogue, name: str, table: Table) -> None:
    """Raise ``LoadError`` if ``table`` lacks a column on which a kept match of the table ``name`` depends."""
    for schema, match in find_matches_of(catalogue.schemas, name):
        for side in read_sides(catalogue.schemas, match) or ():
            present = {column.name for column in table.columns}
            lost = sorted(side.used_columns - present) if side.name == name else []
            lost = lost or (["id"] if side.name == name and table.layout.id != side.table.layout.id else [])
            lost = lost or (["position"] if side.name == name and table.layout.position != side.position else [])
            if lost:
                match_name = f"{schema.name}.{match.name}"
                raise LoadError(
                    f"the kept match {match_name} needs {', '.join(lost)} of {name} unchanged: keep it, or remove the"
                    f" match first with skyhouse match drop {match_name}"
                )


def refuse_lookalike(catalogue: Catalogue, name: str) -> None:
    """Check that no table differs from a new table only in case, because ADQL could not distinguish them.

    Parameters
    ----------
    catalogue : Catalogue
        The current catalogue.
    name : str
        ``schema.table`` of the new table.

    Raises
    ------
    LoadError
        There is such a table.
    """
    for entry in catalogue.entries:
        existing = entry.qualified_name
        if existing != name and existing.lower() == name.lower():
            raise LoadError(
                f"there is a table {existing}, from which {name} differs only in case, which ADQL ignores:"
                " choose another --table"
            )


def refuse_taken_name(catalogue: Catalogue, schema_name: str, table: Table) -> None:
    """Check that the name of a table of latest versions is free.

    Parameters
    ----------
    catalogue : Catalogue
        The current catalogue.
    schema_name : str
        Schema of both tables.
    table : Table
        A table with or without versions.

    Raises
    ------
    LoadError
        Another table has the name that the latest versions need.
    """
    latest = build_latest_table(table)
    if latest is None:
        return
    for entry in catalogue.entries:
        is_same = (entry.schema.name, entry.table.name.lower()) == (schema_name, latest.name.lower())
        owner = find_versioned_table(catalogue.schemas, schema_name, entry.table.name)
        if is_same and (owner is None or owner.name != table.name):
            raise LoadError(
                f"there is a table {entry.qualified_name}, but the latest versions of {table.name} need this name:"
                " give them another name with last in versions of skyhouse:layout"
            )


def refuse_known_files(request: LoadRequest, known: tuple[int, ...]) -> None:
    """Raise ``LoadError`` if the table already has some of the files, given by index."""
    if known:
        names = ", ".join(str(request.files[i]) for i in known)
        raise LoadError(f"already in {request.table}: {names}. Append only the other files")
