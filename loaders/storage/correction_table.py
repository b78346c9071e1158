"""The table of corrections: the ids of rows and their new values, in memory on every server.

A second table, with the engine Join, returns the new values of a row by its id to a mutation (``joinGet``). It cannot
be read, because it keeps only hashes of keys that are texts or several columns. Mutations rewrite only the corrected
columns: 1 M corrections of two of 36 columns of 4 M rows take 2.5 s, and look-ups by id then read as few rows as before
(``docs/decisions/corrections.md``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import pyarrow as pa

from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.table_ddl import given_columns, stored_columns
from clickhouse_schema.working_tables import CORRECTION_PREFIX
from loaders.storage.stored_table import find_nulls
from tap_service.storage.engine.engine import Engine

#: The index of a row in the files, from 0.
_ROW_COLUMN = "__row"


class CorrectionTable:
    """The corrections of one table.

    Parameters
    ----------
    servers : Servers[Engine]
        The servers of the engine.
    schema_name, table_name : str
        Names of the corrected table.
    corrected : Table
        The same table, with only the columns of the files.
    """

    def __init__(self, servers: Servers[Engine], schema_name: str, table_name: str, corrected: Table) -> None:
        self._servers = servers
        self._corrected = corrected
        self._id = corrected.layout.id
        digest = hashlib.sha256(f"{schema_name}\n{table_name}".encode()).hexdigest()
        #: joinGet takes the name as a text, so it is plain, whatever the name of the table is
        self._name = f"skyhouse.{CORRECTION_PREFIX}{digest[:24]}"
        self._values_name = f"{self._name}_values"
        self._rows = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The corrected columns as they are stored, including the shapes and covers of texts."""
        return tuple(name for name in given_columns(self._corrected) if name not in self._id)

    @property
    def is_corrected_sql(self) -> str:
        """The SQL of the condition that a row has a correction."""
        return f"({_names_sql(self._id)}) IN (SELECT {_names_sql(self._id)} FROM {self._name})"

    def value_sql(self, column: str) -> str:
        """Return the SQL of the new value of a column in a corrected row.

        Parameters
        ----------
        column : str
            One of ``columns``, not quoted.

        Returns
        -------
        str
            SQL with the columns of the id, to be used only for rows with ``is_corrected_sql``. If an id was given
            several times, the last value applies.
        """
        key = ", ".join(f"assumeNotNull({quote_identifier(name)})" for name in self._id)
        return f"joinGet({quote_string(self._values_name)}, {quote_string(column)}, {key})"

    def create_table(self) -> None:
        self.drop_table()
        stored = stored_columns(self._corrected)
        columns = [f"{quote_identifier(name)} {stored[name].type}" for name in given_columns(self._corrected)]
        body = ", ".join([*columns, f"{_ROW_COLUMN} UInt32"])
        # the last of several corrections of an id applies
        join = f"Join(ANY, LEFT, {_names_sql(self._id)}) SETTINGS persistent = 0, join_any_take_last_row = 1"
        self._servers.execute_everywhere(
            f"CREATE TABLE {self._name} ({body}) ENGINE = Memory",
            f"CREATE TABLE {self._values_name} ({body}) ENGINE = {join}",
            point=Failpoint.CORRECTION_CREATE,
        )

    def add_rows(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Add corrections on every server, after the corrections that were added before.

        Parameters
        ----------
        batches : iterable of pyarrow.RecordBatch
            Rows with the id and the columns of the files, as they are stored (``given_columns``).
        """
        numbered = []
        for batch in batches:
            numbers = np.arange(self._rows, self._rows + batch.num_rows, dtype=np.uint32)
            numbered.append(batch.append_column(_ROW_COLUMN, pa.array(numbers)))
            self._rows += batch.num_rows
        for engine in self._servers.list_engines():
            engine.insert_batches(self._name, numbered)
            engine.insert_batches(self._values_name, numbered)
            reach(Failpoint.CORRECTION_FILL)

    def count_ids(self) -> int:
        """Return the number of different ids."""
        sql = f"SELECT uniqExact({_names_sql(self._id)}) AS __count FROM {self._name}"
        counted = self._servers.engine.fetch_table(sql)
        return int(counted.column(0)[0].as_py())

    def count_corrected(self, rows_sql: str) -> int:
        """Return the number of rows that have a correction.

        Parameters
        ----------
        rows_sql : str
            Quoted name of a table, or a query in parentheses.

        Returns
        -------
        int
            Number of rows; more than ``count_ids`` if an id occurs in several rows.
        """
        counted = self._servers.engine.fetch_table(
            f"SELECT count() AS __count FROM {rows_sql} WHERE {self.is_corrected_sql}"
        )
        return int(counted.column(0)[0].as_py())

    def count_finished(self, rows_sql: str) -> int:
        """Return the number of rows that already have the values of their corrections.

        Parameters
        ----------
        rows_sql : str
            Quoted name of a table, or a query in parentheses.

        Returns
        -------
        int
            Number of rows; NULL and NaN are equal to themselves.
        """
        stored = f"tuple({_names_sql(self.columns)})"
        wanted = f"tuple({', '.join(map(self.value_sql, self.columns))})"
        # as texts NULL and NaN are equal to themselves
        counted = self._servers.engine.fetch_table(
            f"SELECT countIf(toString({stored}) = toString({wanted})) AS __count FROM {rows_sql}"
            f" WHERE {self.is_corrected_sql}"
        )
        return int(counted.column(0)[0].as_py())

    def find_nulls(self, columns: Collection[str]) -> set[str]:
        """Return the columns that have a NULL among their new values.

        Parameters
        ----------
        columns : collection of str
            Names of the columns to check, not quoted.

        Returns
        -------
        set of str
            A subset of ``columns``.
        """
        return find_nulls(self._servers.engine, self._name, columns)

    def find_unknown(self, rows_sql: str) -> list[tuple[int, str]]:
        """Return the corrections without a row.

        Parameters
        ----------
        rows_sql : str
            Quoted name of a table, or a query in parentheses.

        Returns
        -------
        list of tuple of (int, str)
            Index of the correction, from 0 over all files, and its id as a text; in the order of the files.
        """
        key = _names_sql(self._id)
        known = f"SELECT {key} FROM {rows_sql} WHERE {self.is_corrected_sql}"
        values = ", ".join(f"toString({quote_identifier(name)})" for name in self._id)
        found = self._servers.engine.fetch_table(
            f"SELECT {_ROW_COLUMN}, arrayStringConcat([{values}], ', ') AS __shown FROM {self._name}"
            f" WHERE ({_names_sql(self._id)}) NOT IN ({known}) ORDER BY {_ROW_COLUMN}"
        )
        return [(row[_ROW_COLUMN], row["__shown"]) for row in found.to_pylist()]

    def drop_table(self) -> None:
        self._servers.execute_everywhere(
            *(f"DROP TABLE IF EXISTS {name} SYNC" for name in (self._values_name, self._name)),
            point=Failpoint.CORRECTION_DROP,
        )


def _names_sql(names: Sequence[str]) -> str:
    return ", ".join(map(quote_identifier, names))
