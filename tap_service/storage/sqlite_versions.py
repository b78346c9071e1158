"""Versions, transactions and copies of SQLite files.

A newer Skyhouse upgrades a file when it opens it. The version is in ``user_version``. Before the upgrade, the file is
copied next to it as ``NAME.version-N``: with that copy, the older Skyhouse can be used again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

#: Brings a file from one version to the next, inside a transaction.
Step = Callable[[sqlite3.Connection], None]


class LaterVersion(Exception):
    """A later version of Skyhouse made the file; the message says what to do."""


def open_file(path: Path, steps: Sequence[Step], pragma: str = "") -> sqlite3.Connection:
    """Open a file, which is created if it is missing, and upgrade it.

    Parameters
    ----------
    path : Path
        The file.
    steps : Sequence[Step]
        The upgrades; see ``upgrade_file``, also for errors.
    pragma : str
        Set before the upgrade.

    Returns
    -------
    sqlite3.Connection
        In autocommit mode. Any thread may use it, but only one at a time.
    """
    path.touch(mode=0o600)
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    try:
        if pragma:
            connection.execute(f"PRAGMA {pragma}")
        upgrade_file(connection, path, steps)
    except BaseException:
        connection.close()
        raise
    return connection


def upgrade_file(connection: sqlite3.Connection, path: Path, steps: Sequence[Step]) -> None:
    """Bring a file to the version ``len(steps)``, in one transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        In autocommit mode (``isolation_level=None``). Several processes may do this at once.
    path : Path
        The file.
    steps : Sequence[Step]
        ``steps[n]`` brings version n to n + 1. The first step creates the tables, unless they exist: the first release
        of Skyhouse left the version at 0.

    Raises
    ------
    LaterVersion
        The version of the file is higher than the number of steps.
    sqlite3.Error, OSError
        The file or its copy cannot be written. The file is unchanged.
    """
    if read_version(connection) == len(steps):
        return
    with begin_transaction(connection):
        version = read_version(connection)
        if version > len(steps):
            raise LaterVersion(
                f"{path} was made by a later version of Skyhouse (its version is {version}, this one knows "
                f"{len(steps)}): install that version, or restore a backup made by this one"
            )
        if version < len(steps) and _has_tables(connection):
            copy_database(path, path.with_name(f"{path.name}.version-{version}"))
        for step in steps[version:]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {len(steps)}")


@contextmanager
def begin_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one transaction, which excludes other writers from its start on (BEGIN IMMEDIATE).

    Parameters
    ----------
    connection : sqlite3.Connection
        In autocommit mode (``isolation_level=None``) before and after the block.

    Raises
    ------
    sqlite3.OperationalError
        Another process writes for longer than the timeout of the connection, or the disk is full. Nothing changes then,
        nor if the block raises.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")  # fails while another process reads for long, or on a full disk
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it
            connection.execute("ROLLBACK")
        raise


def read_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def execute_script(script: str) -> Step:
    """Return an upgrade step that executes a script.

    Parameters
    ----------
    script : str
        SQL statements, separated by semicolons; none contains a semicolon in itself.

    Returns
    -------
    Step
        The step, which leaves the transaction to its caller.
    """

    def execute(connection: sqlite3.Connection) -> None:
        for statement in filter(str.strip, script.split(";")):  # executescript would end the transaction
            connection.execute(statement)

    return execute


def copy_database(path: Path, to: Path) -> None:
    """Copy a file in a consistent state, while others may write to it.

    Parameters
    ----------
    path : Path
        The file.
    to : Path
        The copy, which appears when it is complete.

    Raises
    ------
    sqlite3.Error, OSError
        The file cannot be read, or the copy cannot be written.
    """
    part = to.with_name(f"{to.name}.part-{os.getpid()}")
    part.unlink(missing_ok=True)
    part.touch(mode=0o600)
    source, target = sqlite3.connect(path), sqlite3.connect(part)
    try:
        source.backup(target)
    finally:
        target.close()
        source.close()
    with part.open("rb") as written:
        os.fsync(written.fileno())
    part.replace(to)


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema)").fetchone()[0])
