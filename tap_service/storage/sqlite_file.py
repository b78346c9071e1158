"""An SQLite file, which all threads of a process use through one connection, one at a time."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tap_service.storage.sqlite_versions import LaterVersion, Step, begin_transaction, open_file


class SqliteFile:
    """An SQLite file, which is created if it is missing, and upgraded.

    Parameters
    ----------
    path : Path
        The file.
    steps : Sequence[Step]
        The upgrades; see ``upgrade_file``.
    unavailable : Callable[[str], Exception]
        Makes the exception that is raised if the file cannot be used, now and later, of a message.
    problem : str
        What does not work, for this message.
    way_out : str
        What the operator can do, for this message.
    pragma : str
        Set when the file is opened.
    makes_directory : bool
        Whether to create the directory of the file, too.
    """

    def __init__(
        self,
        path: Path,
        steps: Sequence[Step],
        unavailable: Callable[[str], Exception],
        problem: str,
        *,
        way_out: str = "",
        pragma: str = "",
        makes_directory: bool = False,
    ) -> None:
        self._unavailable = unavailable
        self._problem = problem
        self._way_out = f"; {way_out}" if way_out else ""
        self._lock = threading.Lock()
        with self._translate_errors():
            if makes_directory:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._connection = open_file(path, steps, pragma)

    @contextmanager
    def borrow_connection(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection to this thread alone; each statement is a separate transaction."""
        with self._translate_errors(), self._lock:
            yield self._connection

    @contextmanager
    def begin_transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for one transaction."""
        with self.borrow_connection() as connection, begin_transaction(connection):
            yield connection

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except LaterVersion as error:
            raise self._unavailable(str(error)) from error
        except (OSError, sqlite3.Error) as error:
            raise self._unavailable(f"{self._problem}: {error}{self._way_out}") from error
