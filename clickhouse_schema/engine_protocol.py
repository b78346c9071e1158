"""The part of ``tap_service.storage.engine.engine.Engine`` that this package uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import pyarrow as pa


class Engine(Protocol):
    """A connection to ClickHouse: to one server, or to all servers of a cluster."""

    def execute(self, sql: str, settings: Mapping[str, str | int | float] | None = None, *, query_id: str = "") -> None:
        """Run a statement without a result, such as DDL or INSERT SELECT.

        Parameters
        ----------
        sql : str
            The statement.
        settings : mapping of str to (str or int or float), optional
            ClickHouse settings of this statement.
        query_id : str, optional
            The id by which the statement can be cancelled; by default a new id.

        Raises
        ------
        EngineError
            The engine rejects the statement or does not answer; its subclasses say why.
        """

    def fetch_table(self, sql: str) -> pa.Table:
        """Run a query and return its complete result, which must be small.

        Parameters
        ----------
        sql : str
            The query.

        Returns
        -------
        pyarrow.Table
            The columns in the order of the query, with the Arrow types of ClickHouse.

        Raises
        ------
        EngineError
            The engine rejects the query or does not answer; its subclasses say why.
        """

    def insert_batches(self, table: str, batches: Iterable[pa.RecordBatch]) -> None:
        """Insert rows into a table of the connected server.

        Parameters
        ----------
        table : str
            Quoted name of the table.
        batches : iterable of pyarrow.RecordBatch
            The rows, which become visible together or not at all. Columns are matched by name.

        Raises
        ------
        EngineError
            The engine rejects the rows or does not answer; its subclasses say why.
        """

    def require_servers(self) -> Sequence[Engine]:
        """Return a connection to each server.

        Returns
        -------
        sequence of Engine
            Connections that this engine owns and closes; one for an engine of a single server.

        Raises
        ------
        EngineUnavailable
            A server does not answer.
        """
