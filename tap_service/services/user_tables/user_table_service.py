"""Requests of users to create, load and remove their tables. Each method is one request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import pyarrow as pa
from pydantic import ValidationError

from clickhouse_schema.datatypes import Field
from clickhouse_schema.engine_tables import user_table_record
from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME, UserTable
from clickhouse_schema.schema_model import Table
from tap_service.config import Config
from tap_service.models.identity import Identity
from tap_service.readers.table_model import build_table
from tap_service.service_errors import (
    Conflict,
    Forbidden,
    ServiceBusy,
    ServiceUnavailable,
    Unauthorized,
    UploadError,
)
from tap_service.services.bounded_thread_pool import BoundedThreadPool
from tap_service.services.catalogue.catalogue_cache import CatalogueCache
from tap_service.services.queries.run_errors import translate_errors
from tap_service.services.uploads.table_file_reader import ReadTable, TableFileReader, build_user_table_limits
from tap_service.services.user_tables.user_table_definitions import (
    check_table,
    parse_table_name,
    read_table_definition,
    read_vosi_document,
    replace_descriptions,
)
from tap_service.services.user_tables.user_table_expiry import expiry_time
from tap_service.services.user_tables.user_table_storage import TableChanged, UserTableStorage, table_exists_error
from tap_service.storage.engine.engine import Engine
from tap_service.storage.jobs.job_store import JobStoreUnavailable

#: maximum number of running loads, and of waiting loads
_MAX_LOADS, _MAX_WAITING_LOADS = 4, 20
#: maximum number of running loads of one user, and of running and waiting loads
_MAX_USER_LOADS, _MAX_USER_REQUESTS = 2, 10
#: a load fails if the table changes during this number of attempts
_MAX_ATTEMPTS = 3


T = TypeVar("T")


@dataclass
class _UserLoads:
    """The loads of one user."""

    slots: asyncio.Semaphore
    n_requests: int = 0


class UserTableService:
    """Creates, loads and removes user tables. Thread-safe.

    Methods raise errors of ``service_errors``: InvalidQueryError, UploadError, ParameterError, NotFound, Forbidden,
    Conflict and ServiceUnavailable. Their parameter ``owner`` is the name of the user, ``name`` is ``mydb.table``.

    Parameters
    ----------
    config : Config
        The limits of user tables.
    engine : Engine
        The engine.
    catalogue_cache : CatalogueCache
        The tables to which foreign keys may refer.
    files : TableFileReader
        Reads table files.
    """

    def __init__(self, config: Config, engine: Engine, catalogue_cache: CatalogueCache, files: TableFileReader) -> None:
        self._engine = engine
        self._catalogue_cache = catalogue_cache
        self._is_enabled = config.user_tables > 0
        self._days = config.user_table_days
        self._files = files
        self._limits = build_user_table_limits(config)
        self.storage = UserTableStorage(config, engine)
        self._threads = BoundedThreadPool("user-table", _MAX_LOADS, _MAX_WAITING_LOADS)
        self._loads_by_user: dict[str, _UserLoads] = {}

    async def run_load(self, owner: str, work: Callable[[], T]) -> T:
        """Run a load on a thread, with limits for each user and for all users.

        Parameters
        ----------
        owner : str
            The user.
        work : Callable[[], T]
            The load.

        Returns
        -------
        T
            The result of ``work``.

        Raises
        ------
        ServiceBusy
            Too many loads wait.
        """
        loads = self._loads_by_user.setdefault(owner, _UserLoads(asyncio.Semaphore(_MAX_USER_LOADS)))
        if loads.n_requests >= _MAX_USER_REQUESTS:
            raise ServiceBusy(f"{loads.n_requests} of your loads are already running or waiting: try again in a while")
        loads.n_requests += 1
        try:
            async with loads.slots:
                return await asyncio.wrap_future(self._threads.submit(work))
        finally:
            loads.n_requests -= 1
            if not loads.n_requests:
                del self._loads_by_user[owner]

    def close(self) -> None:
        """Cancel waiting loads."""
        self._threads.close()

    def list_tables(self, owner: str) -> tuple[UserTable, ...]:
        """Return the tables of a user."""
        with translate_table_errors(owner):
            return user_table_record.read_user_tables(self._engine, owner)

    def list_expiries(self, owner: str) -> dict[str, datetime]:
        """Return when tables of a user expire unless they are used.

        Returns
        -------
        dict[str, datetime]
            The expiry times by the name of the table without its schema; tables that never expire are left out.
        """
        with translate_table_errors(owner):
            records = user_table_record.read_user_tables(self._engine, owner)
            uses = user_table_record.read_last_uses(self._engine, [record.described for record in records])
        expiries = {}
        for record in records:
            end = expiry_time(record, uses.get(record.described), self._days)
            if end is not None:
                expiries[record.table.name] = end
        return expiries

    def create_table(self, owner: str, name: str, path: Path, content_type: str, *, replace: bool) -> UserTable:
        """Create an empty table from a VOSI definition, or a table with rows from a table file.

        Parameters
        ----------
        owner, name : str
            The user, and the name of the new table.
        path : Path
            The file.
        content_type : str
            The media type that the client declared, '' for none.
        replace : bool
            Whether to replace an existing table.
        """
        table_name = self.parse_table_name(name)
        with translate_table_errors(owner):
            self._check_name_free(owner, table_name, replace=replace)
            if (document := read_vosi_document(path, content_type)) is not None:
                table = read_table_definition(table_name, document, self._catalogue_cache.catalogue_for(owner))
                with self.storage.staging_table(table) as filled:
                    return self.storage.publish_table(owner, table, filled, replace=replace)
            with self._files.read_table(path, table_name, content_type, limits=self._limits) as read:
                return self._create_from_file(owner, read, replace=replace)

    def save_result(
        self, owner: str, name: str, path: Path, *, replace: bool, origin: str, fields: tuple[Field, ...]
    ) -> UserTable:
        """Create a table from the result of a query.

        Parameters
        ----------
        owner, name : str
            The user, and the name of the new table without its schema.
        path : Path
            The file of the result.
        replace : bool
            Whether to replace an existing table.
        origin : str
            The job that creates the table; a repeated call for the same job changes nothing.
        fields : tuple of Field
            The columns of the result; if there are none, or they do not match the file, the file defines the columns.
        """
        if fields:
            with suppress(UploadError, ValidationError):
                table = check_table(build_table(name, fields))
                with self._files.read_table(path, name, table=table, limits=self._limits) as read:
                    return self._create_from_file(owner, read, replace=replace, origin=origin)
        with self._files.read_table(path, name, limits=self._limits) as read:
            return self._create_from_file(owner, read, replace=replace, origin=origin)

    def _create_from_file(self, owner: str, read: ReadTable, *, replace: bool, origin: str = "") -> UserTable:
        table = check_table(read.table)
        replaced = user_table_record.find_user_table(self._engine, owner, table.name)
        with self.storage.staging_table(table) as filled:
            self.storage.insert_batches(owner, filled, read.read_batches(), replaced.storage if replaced else "")
            return self.storage.publish_table(owner, table, filled, replace=replace, origin=origin)

    def describe_table(self, owner: str, name: str, path: Path, content_type: str) -> UserTable | None:
        """Replace the descriptions of a table by a VOSI definition.

        Parameters
        ----------
        owner, name : str
            The user and the table.
        path : Path
            The file.
        content_type : str
            The media type that the client declared, '' for none.

        Returns
        -------
        UserTable or None
            The table; None if the file is not a VOSI definition.

        Raises
        ------
        Conflict
            Another request has changed the table in the meantime.
        """
        with translate_table_errors(owner):
            if (document := read_vosi_document(path, content_type)) is None:
                return None
            base = self.storage.get_table(owner, self.parse_table_name(name))
            given = read_table_definition(base.table.name, document, self._catalogue_cache.catalogue_for(owner))
            try:
                return self.storage.exchange_description(base, replace_descriptions(base.table, given))
            except TableChanged as error:
                raise Conflict(f"{base.qualified_name} was changed meanwhile: send the definition again") from error

    def load_rows(
        self, owner: str, name: str, path: Path, content_type: str, *, replace: bool
    ) -> tuple[UserTable, int]:
        """Append the rows of a file to a table, or replace the rows of the table.

        Parameters
        ----------
        owner, name : str
            The user and the table.
        path : Path
            The file.
        content_type : str
            The media type that the client declared, '' for none.
        replace : bool
            Whether to replace the rows.

        Returns
        -------
        (UserTable, int)
            The table, and the number of rows in the file.
        """
        with translate_table_errors(owner):
            base = self.storage.get_table(owner, self.parse_table_name(name))
            table = base.table
            with self._files.read_table(path, table.name, content_type, table=table, limits=self._limits) as read:
                return self._load_into(base, read, replace=replace), read.rows

    def create_empty_table(self, owner: str, name: str, fields: tuple[Field, ...]) -> UserTable:
        """Create a table without rows for the results of a query.

        Parameters
        ----------
        owner, name : str
            The user, and the name of the new table without its schema.
        fields : tuple[Field, ...]
            The columns of the results.

        Raises
        ------
        Conflict
            The user has a table with this name.
        Forbidden
            The user has the maximum number of tables.
        """
        with translate_table_errors(owner):
            self._check_name_free(owner, name, replace=False)
            table = check_table(build_table(name, fields))
            with self.storage.staging_table(table) as filled:
                return self.storage.publish_table(owner, table, filled, replace=False)

    def append_result(
        self,
        owner: str,
        name: str,
        path: Path,
        fields: tuple[Field, ...],
        *,
        token: str,
        can_recur: Callable[[str], bool],
        constant: Mapping[str, int],
    ) -> UserTable:
        """Append the rows of a query's result to a table, which is created if it does not exist.

        Parameters
        ----------
        owner, name : str
            The user, and the name of the table without its schema.
        path : Path
            The file of the result.
        fields : tuple of Field
            The columns of the table.
        token : str
            The identity of the result: the rows of a token are appended once, even if the call is repeated.
        can_recur : Callable[[str], bool]
            As in ``UserTableStorage.append_rows``.
        constant : Mapping[str, int]
            The values of columns that the file does not contain, by name.

        Raises
        ------
        Conflict
            The table has other columns.
        """
        with translate_table_errors(owner):
            base = user_table_record.find_user_table(self._engine, owner, name)
            base = base or self.create_empty_table(owner, name, fields)
            if token in base.appended:
                return base
            wanted = [field.name for field in fields]
            if [column.name for column in base.table.columns] != wanted:
                raise Conflict(
                    f"{base.qualified_name} has other columns than the results to be appended, {', '.join(wanted)}: "
                    "remove the table, or save its rows under another name, and it will be created again"
                )
            given = tuple(column for column in base.table.columns if column.name not in constant)
            table = Table(name=base.table.name, columns=given)
            with self._files.read_table(path, name, table=table, limits=self._limits) as read:
                return self._load_into(base, read, replace=False, token=token, can_recur=can_recur, constant=constant)

    def _load_into(
        self,
        base: UserTable,
        read: ReadTable,
        *,
        replace: bool,
        token: str = "",
        can_recur: Callable[[str], bool] = bool,
        constant: Mapping[str, int] = MappingProxyType({}),
    ) -> UserTable:
        """Load rows into a table; try again if its rows change meanwhile. Raises Conflict if its columns change."""
        for _ in range(_MAX_ATTEMPTS):
            neighbour, replaced = ("", base.storage) if replace else (base.storage, "")
            try:
                with self.storage.staging_table(base.table, neighbour) as filled:
                    batches = (_add_constants(batch, constant) for batch in read.read_batches())
                    self.storage.insert_batches(base.owner, filled, batches, replaced)
                    if replace:
                        return self.storage.exchange_rows(base, base.table, filled)
                    return self.storage.append_rows(base, filled, token, can_recur)
            except TableChanged as error:
                if error.now.table.columns != base.table.columns:
                    break
                base = error.now
        raise Conflict(f"{base.qualified_name} was changed meanwhile: load the rows again")

    def remove_table(self, owner: str, name: str) -> None:
        """Remove a table with its rows; queries that are reading it finish."""
        with translate_table_errors(owner):
            self.storage.remove_table(owner, self.parse_table_name(name))

    def parse_table_name(self, name: str) -> str:
        """Return the table in ``mydb.table``.

        Raises
        ------
        Forbidden
            The service has no user tables, or the schema is not ``mydb``.
        ParameterError
            The name of the table is invalid.
        """
        if not self._is_enabled:
            raise Forbidden("this service has no user tables")
        return parse_table_name(name)

    def _check_name_free(self, owner: str, name: str, *, replace: bool) -> None:
        """Raise Conflict or Forbidden if the table cannot be created, before its file is read."""
        present = user_table_record.find_user_table(self._engine, owner, name)
        if present is None:
            self.storage.check_count(owner)
        elif not replace:
            raise table_exists_error(present)


def _add_constants(batch: pa.RecordBatch, constant: Mapping[str, int]) -> pa.RecordBatch:
    for name, value in constant.items():
        batch = batch.append_column(name, pa.array([value], pa.int64()).take(pa.repeat(0, batch.num_rows)))
    return batch


def require_table_owner(user: Identity | None) -> str:
    """Return the name of a user, for requests that anonymous clients cannot make.

    Parameters
    ----------
    user : Identity or None
        The user; None for an anonymous client.

    Raises
    ------
    Unauthorized
        The client is anonymous.
    """
    if user is None:
        raise Unauthorized("user tables need a name and password, or a token: nobody else sees your tables")
    return user.name


@contextmanager
def translate_table_errors(owner: str) -> Iterator[None]:
    """Raise errors of the engine and of locks as errors of the service.

    Parameters
    ----------
    owner : str
        The user whose tables the block changes, for the log.

    Raises
    ------
    ServiceError
        The error for the client; ServiceUnavailable if the engine or the lock is unavailable.
    """
    try:
        with translate_errors(f"{SCHEMA_NAME} of {owner!r}"):
            yield
    except JobStoreUnavailable as error:
        raise ServiceUnavailable(f"{error}. Try again later") from error
