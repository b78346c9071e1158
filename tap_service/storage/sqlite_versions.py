"""SQLite files: their versions, transactions and copies.

A file goes forward by itself when a newer Skyhouse opens it. The version stands in its ``user_version``. Before the
first step the old file is copied beside it, as ``NAME.version-N``: that copy and the older Skyhouse are the way back.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

#: brings a file from one version to the next, inside a transaction
Step = Callable[[sqlite3.Connection], None]


class LaterVersion(Exception):
    """The file was made by a later version of Skyhouse; the message says what to do."""


def open_file(path: Path, steps: Sequence[Step], pragma: str = "") -> sqlite3.Connection:
    """Open a file, which is created if it is missing, and upgrade it; raise as ``upgrade_file``.

    The connection is in autocommit mode and may be used in any thread, by one at a time. ``pragma`` is set first.
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
    connection
        In autocommit mode (``isolation_level=None``). Several processes may do this at once.
    path
        The file.
    steps
        ``steps[n]`` brings version n to n + 1. The first one makes the tables, unless they exist: the first release
        of Skyhouse left the version at 0.

    Raises
    ------
    LaterVersion
        The file's version is above all steps.
    sqlite3.Error, OSError
        The file or its copy cannot be written. The file is as before.
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
    """Change all or nothing; ``connection`` is in autocommit mode, also after an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")  # which fails while others read for long, or on a full disk
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it
            connection.execute("ROLLBACK")
        raise


def read_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def execute_script(script: str) -> Step:
    """Return a step that executes these statements; none of them contains a semicolon."""

    def execute(connection: sqlite3.Connection) -> None:
        for statement in filter(str.strip, script.split(";")):  # executescript would end the transaction
            connection.execute(statement)

    return execute


def copy_database(path: Path, to: Path) -> None:
    """Copy a file that others may be writing to, as it is at one moment; ``to`` appears when it is complete.

    Raise sqlite3.Error or OSError.
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
