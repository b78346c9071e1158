"""Messages between the service and a translator process: pickles in which numbers stand for tables of the catalogue.

Both processes keep the numbered tables, so that a table is sent once, and the service gets its own objects back.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from adql import AdqlError
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.shard_map import Sharding


@dataclass(frozen=True, slots=True)
class TranslationRequest:
    """A query to translate.

    Attributes
    ----------
    text : str
        The query.
    limit : int or None
        The row limit of the request.
    forget : bool
        Whether to drop the tables of earlier requests first.
    new_tables : dict of int to TableEntry
        Tables that have not been sent before, by number.
    tables : tuple of int
        The numbers of the catalogue's tables.
    sharding : Sharding or None
        The shards of a cluster.
    has_positions : bool
        Whether names of objects can be looked up, by a ``PositionRequest``.
    seconds : float
        Limit of processor time.
    """

    text: str
    limit: int | None
    forget: bool
    new_tables: dict[int, TableEntry]
    tables: tuple[int, ...]
    sharding: Sharding | None
    has_positions: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class PositionRequest:
    """The translator requests the position of an object; a ``PositionAnswer`` follows."""

    name: str


@dataclass(frozen=True, slots=True)
class PositionAnswer:
    """The position of an object as longitude and latitude in degrees, or the ``error`` why it is unknown."""

    position: tuple[float, float] = (0.0, 0.0)
    error: str = ""


@dataclass(frozen=True, slots=True)
class TranslationFailure:
    """A failed translation: the ``error`` of the query, or the ``reason`` of a failure of the translator."""

    error: AdqlError | None = None
    reason: str = ""


@dataclass(slots=True)
class TableNumbers:
    """The numbers of tables, as both processes know them."""

    tables: dict[int, TableEntry] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)  # by id()
    _next: int = 0

    def find_number(self, table: TableEntry) -> int | None:
        """Return the number of a table, None if it has none."""
        return self._numbers.get(id(table))

    def add_table(self, table: TableEntry) -> int:
        """Assign the next number to a table, and return it."""
        self._next += 1
        self.set_number(table, self._next)
        return self._next

    def set_number(self, table: TableEntry, number: int) -> None:
        """Assign a number to a table."""
        self.tables[number] = table
        self._numbers[id(table)] = number

    def clear(self) -> None:
        """Drop all tables."""
        self.tables.clear()
        self._numbers.clear()


def send_plain(connection: Connection, message: object) -> None:
    """Send a message that contains tables."""
    connection.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


def send_numbered(connection: Connection, message: object, numbers: TableNumbers) -> None:
    """Send a message in which numbers stand for tables."""
    buffer = io.BytesIO()
    _Pickler(buffer, numbers).dump(message)
    connection.send_bytes(buffer.getbuffer())


def receive_message(connection: Connection, numbers: TableNumbers) -> Any:
    """Receive a message of either kind. Raises EOFError or OSError if the other process has ended."""
    return _Unpickler(io.BytesIO(connection.recv_bytes()), numbers).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, numbers: TableNumbers) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._table_numbers = numbers

    def persistent_id(self, obj: object) -> int | None:
        return self._table_numbers.find_number(obj) if isinstance(obj, TableEntry) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, numbers: TableNumbers) -> None:
        super().__init__(file)
        self._table_numbers = numbers

    def persistent_load(self, pid: int) -> TableEntry:
        return self._table_numbers.tables[pid]
