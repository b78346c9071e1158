"""Requests of users for their own tables: create, load and remove them; each method is one request."""

from __future__ import annotations

import asyncio
import difflib
import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from clickhouse_schema.datatypes import Field
from clickhouse_schema.engine_tables import user_table_record
from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME, UserTable
from clickhouse_schema.reserved_words import RESERVED
from clickhouse_schema.schema_files.schema_checks import find_table_problems
from clickhouse_schema.schema_model import Column, ForeignKey, Layout, Table
from clickhouse_schema.vounit import normalise_unit
from tap_service.config import Config
from tap_service.constants import MAX_DEFINITION_BYTES, MAX_MODEL_BYTES
from tap_service.models.identity import Identity
from tap_service.readers.file_columns import felis_column
from tap_service.readers.position_columns import position_of
from tap_service.readers.read_error import ReadError
from tap_service.readers.vosi_table_reader import Definition, find_root_name, read_definition
from tap_service.service_errors import (
    Conflict,
    Forbidden,
    NotFound,
    ParameterFault,
    ServiceBusy,
    ServiceUnavailable,
    Unauthorized,
    UploadFault,
)
from tap_service.services.bounded_thread_pool import BoundedThreadPool
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.queries.query_execution import translate_faults
from tap_service.services.uploads.table_files import ReadTable, TableFileReader, build_user_table_limits
from tap_service.services.user_tables.user_table_expiry import expiry_time
from tap_service.services.user_tables.user_table_storage import TableChanged, UserTableStorage, table_exists_fault
from tap_service.storage.engine.engine import Engine
from tap_service.storage.jobs.job_store import JobStoreUnavailable

_log = logging.getLogger("skyhouse")

#: running and waiting loads
_MAX_LOADS, _MAX_WAITING_LOADS = 4, 20
#: running loads of one user, and running and waiting ones
_MAX_USER_LOADS, _MAX_USER_REQUESTS = 2, 10
#: a load fails when the table changes this often meanwhile
_MAX_ATTEMPTS = 3

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_XML = re.compile(r"(text|application)/(x-vosi\S*\+)?xml")


T = TypeVar("T")


@dataclass
class _UserLoads:
    """The loads of one user."""

    places: asyncio.Semaphore
    asked: int = 0


class UserTableService:
    """Thread-safe."""

    def __init__(self, config: Config, engine: Engine, metadata: CatalogueCache, files: TableFileReader) -> None:
        self._engine = engine
        self._metadata = metadata
        self._is_on = config.user_tables > 0
        self._days = config.user_table_days
        self._files = files
        self._limits = build_user_table_limits(config)
        self.storage = UserTableStorage(config, engine)
        self._lane = BoundedThreadPool("user-table", _MAX_LOADS, _MAX_WAITING_LOADS)
        self._turns: dict[str, _UserLoads] = {}

    async def run_load(self, owner: str, work: Callable[[], T]) -> T:
        """Run ``work`` on a thread, with limits for each user and for all. Raises ServiceBusy when too many wait."""
        turns = self._turns.setdefault(owner, _UserLoads(asyncio.Semaphore(_MAX_USER_LOADS)))
        if turns.asked >= _MAX_USER_REQUESTS:
            raise ServiceBusy(f"{turns.asked} of your loads run or wait already: ask again in a while")
        turns.asked += 1
        try:
            async with turns.places:
                found: Future[T] = Future()
                await asyncio.wrap_future(self._lane.submit(lambda: found.set_result(work())))
                return found.result()
        finally:
            turns.asked -= 1
            if not turns.asked:
                del self._turns[owner]

    def close(self) -> None:
        self._lane.close()

    # --- requests

    def list_tables(self, owner: str) -> tuple[UserTable, ...]:
        with translate_table_faults(owner):
            return user_table_record.read_user_tables(self._engine, owner)

    def list_expiries(self, owner: str) -> dict[str, datetime]:
        """Return the expiry times of tables by name; tables that never expire are left out."""
        with translate_table_faults(owner):
            records = user_table_record.read_user_tables(self._engine, owner)
            uses = user_table_record.read_last_uses(self._engine, [record.described for record in records])
        ends = ((record.table.name, expiry_time(record, uses.get(record.described), self._days)) for record in records)
        return {name: end for name, end in ends if end is not None}

    def create_table(self, owner: str, name: str, path: Path, content_type: str, *, replace: bool) -> UserTable:
        """Create an empty table from a VOSI definition, or a table with rows from a table file."""
        table_name = self.parse_table_name(name)
        with translate_table_faults(owner):
            self._check_name_free(owner, table_name, replace=replace)
            if (document := _read_vosi_document(path, content_type)) is not None:
                table = self._read_table_definition(owner, table_name, document)
                with self.storage.staging_table(table) as filled:
                    return self.storage.publish_table(owner, table, filled, replace=replace)
            with self._files.read_table(path, table_name, content_type, limits=self._limits) as read:
                return self._create_from_file(owner, read, replace=replace)

    def save_result(
        self, owner: str, name: str, path: Path, *, replace: bool, origin: str, fields: tuple[Field, ...]
    ) -> UserTable:
        """Create a table from the result file of a query, for the job ``origin``.

        ``fields``: the columns of the result; without them, or if the file does not match, the file defines its own.
        """
        if fields:
            with suppress(UploadFault, ValidationError):
                table = _check_table(_build_table(name, fields))
                with self._files.read_table(path, name, table=table, limits=self._limits) as read:
                    return self._create_from_file(owner, read, replace=replace, origin=origin)
        with self._files.read_table(path, name, limits=self._limits) as read:
            return self._create_from_file(owner, read, replace=replace, origin=origin)

    def _create_from_file(self, owner: str, read: ReadTable, *, replace: bool, origin: str = "") -> UserTable:
        table = _check_table(read.table)
        replaced = user_table_record.find_user_table(self._engine, owner, table.name)
        with self.storage.staging_table(table) as filled:
            self.storage.insert_batches(owner, filled, read.read_batches(), replaced.storage if replaced else "")
            return self.storage.publish_table(owner, table, filled, replace=replace, origin=origin)

    def load_rows(
        self, owner: str, name: str, path: Path, content_type: str, *, replace: bool
    ) -> tuple[UserTable, int]:
        """Append the rows of a file to a table, or replace its rows; return the table and the number of rows."""
        with translate_table_faults(owner):
            base = self.storage.get_table(owner, self.parse_table_name(name))
            with self._files.read_table(
                path, base.table.name, content_type, table=base.table, limits=self._limits
            ) as read:
                for _ in range(_MAX_ATTEMPTS):
                    try:
                        with self.storage.staging_table(base.table, "" if replace else base.storage) as filled:
                            replaced = base.storage if replace else ""
                            self.storage.insert_batches(owner, filled, read.read_batches(), replaced)
                            if replace:
                                return self.storage.exchange_rows(base, base.table, filled), read.rows
                            return self.storage.append_rows(base, filled), read.rows
                    except TableChanged as error:
                        if error.now.table.columns != base.table.columns:
                            break
                        base = error.now
            raise Conflict(f"{base.qualified_name} was changed meanwhile: load the rows again")

    def remove_table(self, owner: str, name: str) -> None:
        with translate_table_faults(owner):
            self.storage.remove_table(owner, self.parse_table_name(name))

    # --- names and definitions

    def parse_table_name(self, name: str) -> str:
        """Return the table in ``mydb.table``. Raises Forbidden for another schema, ParameterFault for a bad name."""
        if not self._is_on:
            raise Forbidden("users have no tables of their own here")
        schema, dot, table = name.partition(".")
        if not dot or schema.lower() != SCHEMA_NAME:
            raise Forbidden(f"your own tables are in the schema {SCHEMA_NAME}: write {SCHEMA_NAME}.name")
        if not _NAME.fullmatch(table):
            raise ParameterFault(
                f"{_quote_text(table)} is no valid table name: write a letter, then letters, digits and _, up to 64"
            )
        if table.upper() in RESERVED:
            raise ParameterFault(f"{table} is a reserved word of ADQL: choose another name, such as {table}_1")
        return table

    def _check_name_free(self, owner: str, name: str, *, replace: bool) -> None:
        """Raise Conflict or Forbidden before the file is read."""
        present = user_table_record.find_user_table(self._engine, owner, name)
        if present is None:
            self.storage.check_count(owner)
        elif not replace:
            raise table_exists_fault(present)

    def _read_table_definition(self, owner: str, name: str, document: bytes) -> Table:
        try:
            found = read_definition(document)
            fields = tuple(column.field for column in found.columns)
            for column in found.columns:
                if column.unusable:
                    raise ReadError(f"column {column.field.name}: {column.unusable}")
            keys = self._resolve_foreign_keys(owner, found)
            table = _build_table(name, fields, description=found.description, utype=found.utype, keys=keys)
        except (ReadError, ValidationError) as error:
            raise UploadFault(f"the table cannot be created: {_error_text(error)}") from error
        return _check_table(table)

    def _resolve_foreign_keys(self, owner: str, found: Definition) -> tuple[ForeignKey, ...]:
        """Return the foreign keys of the definition, whose targets the owner must see."""
        catalogue = self._metadata.catalogue_for(owner)
        keys = []
        for number, (target, pairs, description) in enumerate(found.keys):
            schema, _, table = target.partition(".")
            entries = catalogue.find_tables(table, False, schema)
            own = {column.field.name for column in found.columns}
            there = {field.name for entry in entries for field in entry.fields}
            if len(entries) != 1 or not pairs or not all(a in own and b in there for a, b in pairs):
                raise ReadError(f"the foreign key to {_quote_text(target)} refers to missing columns")
            ours, theirs = zip(*pairs, strict=True)
            keys.append(
                ForeignKey(
                    name=f"key{number}",
                    columns=ours,
                    referenced_table=entries[0].qualified_name,
                    referenced_columns=theirs,
                    description=description,
                )
            )
        return tuple(keys)


def require_user(caller: Identity | None) -> str:
    """Return the name of the user. Raises Unauthorized for an anonymous caller."""
    if caller is None:
        raise Unauthorized("tables of your own need a name and password, or a token: nobody else sees them")
    return caller.name


def find_column(table: Table, name: str) -> Column:
    """Find a column by its name in any case. Raises NotFound with the nearest name."""
    alike = [column for column in table.columns if column.name.lower() == name.strip().strip('"').lower()]
    if alike:
        return alike[0]
    close = difflib.get_close_matches(name, [column.name for column in table.columns], 1)
    hint = f": did you mean {close[0]}?" if close else f"; it has {', '.join(c.name for c in table.columns[:20])}"
    raise NotFound(f"{SCHEMA_NAME}.{table.name} has no column {_quote_text(name)}{hint}")


@contextmanager
def translate_table_faults(owner: str) -> Iterator[None]:
    """Translate errors of engine and locks into errors for the client."""
    try:
        with translate_faults(f"{SCHEMA_NAME} of {owner!r}"):
            yield
    except JobStoreUnavailable as error:
        raise ServiceUnavailable(f"{error}. Ask again later") from error


def _read_vosi_document(path: Path, content_type: str) -> bytes | None:
    """Return the document if it is a VOSI table, otherwise None. Raises UploadFault."""
    kind = content_type.partition(";")[0].strip().lower()
    with path.open("rb") as file:
        start = file.read(65536)
        if (kind and not _XML.fullmatch(kind)) or find_root_name(start) in ("", "VOTABLE"):
            return None
        document = start + file.read(MAX_DEFINITION_BYTES)
    if len(document) > MAX_DEFINITION_BYTES:
        raise UploadFault(f"the definition of a table has {MAX_DEFINITION_BYTES} bytes at most")
    return document


def _build_table(name: str, fields: tuple[Field, ...], **about: Any) -> Table:
    """Build a table with a position in its layout. Raises ValidationError."""
    columns = tuple(Column.model_validate(felis_column(field)) for field in fields)
    return Table(name=name, columns=columns, layout=Layout(position=position_of(fields)), **about)


def _check_table(table: Table) -> Table:
    """Return the table with units in VOUnit syntax where possible. Raises UploadFault for an invalid table."""
    columns = tuple(
        column.model_copy(update={"unit": normalise_unit(column.unit) or column.unit}) if column.unit else column
        for column in table.columns
    )
    table = table.model_copy(update={"columns": columns})
    if problems := find_table_problems(table):
        raise UploadFault(f"the table cannot be created: {problems[0].message}")
    if len(table.model_dump_json(exclude_defaults=True)) > MAX_MODEL_BYTES:
        raise UploadFault(f"the columns' names and descriptions take more than {MAX_MODEL_BYTES} bytes: shorten them")
    return table


def _error_text(error: ReadError | ValidationError) -> str:
    if isinstance(error, ReadError):
        return str(error)
    first = error.errors()[0]
    return str(first["msg"]).removeprefix("Value error, ")


def _quote_text(text: str) -> str:
    cut = text if len(text) <= 80 else text[:77] + "..."
    return repr("".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in cut))
