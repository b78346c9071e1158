"""Messages between the service and a translator process: pickles in which a catalogue's tables are numbers.

Both processes keep the numbered tables, so that a table crosses once, and the service gets its own objects back.
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
    forget
        Drop the tables of earlier requests first.
    new_tables
        Tables that have not been sent, by number.
    tables
        The numbers of the catalogue's tables.
    has_positions
        Whether objects' names can be looked up, by a ``PositionRequest``.
    seconds
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
    """The translator asks for the position of an object; ``PositionAnswer`` follows."""

    name: str


@dataclass(frozen=True, slots=True)
class PositionAnswer:
    """``error``: why there is no position."""

    position: tuple[float, float] = (0.0, 0.0)
    error: str = ""


@dataclass(frozen=True, slots=True)
class TranslationFailure:
    """``error`` is the fault of the query, None where ``reason`` is that of the translator."""

    error: AdqlError | None = None
    reason: str = ""


@dataclass(slots=True)
class TableNumbers:
    """The numbers of tables, as both processes know them."""

    tables: dict[int, TableEntry] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)  # by id()
    _next: int = 0

    def find_number(self, table: TableEntry) -> int | None:
        return self._numbers.get(id(table))

    def add_table(self, table: TableEntry) -> int:
        """Give a table the next number."""
        self._next += 1
        self.set_number(table, self._next)
        return self._next

    def set_number(self, table: TableEntry, number: int) -> None:
        self.tables[number] = table
        self._numbers[id(table)] = number

    def clear(self) -> None:
        self.tables.clear()
        self._numbers.clear()


def send_plain(connection: Connection, message: object) -> None:
    """Send a message in which tables are written out."""
    connection.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


def send_numbered(connection: Connection, message: object, numbers: TableNumbers) -> None:
    """Send a message in which tables are numbers."""
    buffer = io.BytesIO()
    _Pickler(buffer, numbers).dump(message)
    connection.send_bytes(buffer.getbuffer())


def receive_message(connection: Connection, numbers: TableNumbers) -> Any:
    """Receive a message of either kind. Raises EOFError or OSError when the other process has ended."""
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
