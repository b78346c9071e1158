"""Small files of the embedded engine that a full disk leaves empty or truncated: prevented, detected, and repaired.

chDB 4.4 (ClickHouse 26.9) reports no failed write. On a full disk CREATE and ALTER succeed, but the definition of the
table, even of an existing table, is empty; the engine does not open with it. The same happens to the
record of a mutation and to the format version of a table. Therefore:

* a statement that writes a definition requires free space, and inserted rows leave that space free (``disk_room``);
* ALTER keeps the old definition by a second link, which needs no space, until the new definition is on the disk;
* before the engine opens, empty or truncated files are restored, or put aside if the table was never published.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakValueDictionary

from clickhouse_schema.engine_tables.user_table_record import DATABASE as USER_DATABASE
from clickhouse_schema.engine_tables.user_table_record import STAGING_PREFIX
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME
from clickhouse_schema.working_tables import CORRECTION_PREFIX, HOMES_SUFFIX, MOVED_SUFFIX, STAGING_SUFFIX
from tap_service.storage.engine.disk_room import require_room_for_definition
from tap_service.storage.engine.engine import EngineUnavailable, StorageFull
from tap_service.storage.engine.merge_tables import MERGE_TABLE_PREFIX
from tap_service.storage.engine.query_tables import DATABASE, RESULT_OF_EXPORT, UPLOAD_OF_JOB, UPLOAD_OF_SYNC

_log = logging.getLogger("skyhouse")

#: Folders in the engine's folder, which may be on a separate disk. The engine ignores them: definitions while they are
#: changed, and files that were put aside.
_KEPT, _ASIDE = "changed_definitions", "put_aside"

#: errors of file systems that have no links, or allow no more links of one file
_WITHOUT_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EXDEV, errno.EMLINK})

NAME = r"`(?:[^`\\]|\\.)*`|\w+"
_CHANGES = re.compile(
    rf"\s*(?:CREATE|ALTER)\s+(?P<kind>TABLE|DATABASE)\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>(?:{NAME})(?:\.(?:{NAME}))?)"
)
_WRITES = re.compile(r"\s*(?:CREATE|ALTER|RESTORE)\b")

_QUOTED = re.compile("|".join(rf"{mark}[^{mark}\\]*(?:\\.[^{mark}\\]*)*{mark}" for mark in "'`\""), re.DOTALL)
_IS_NUMBER = re.compile(r"[0-9]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

#: names of tables that are made again: prefixes in Skyhouse's own database, suffixes in others
_REMADE_PREFIXES = (UPLOAD_OF_JOB, UPLOAD_OF_SYNC, RESULT_OF_EXPORT, MERGE_TABLE_PREFIX, CORRECTION_PREFIX)
_REMADE_SUFFIXES = (STAGING_SUFFIX, MOVED_SUFFIX, HOMES_SUFFIX)


class DefinitionFiles:
    """The definitions of an embedded engine in ``engine_path``, which this process has locked. Thread-safe."""

    def __init__(self, engine_path: Path) -> None:
        self._engine_path = engine_path
        self._metadata = engine_path / "metadata"
        self._locks: WeakValueDictionary[Path, threading.Lock] = WeakValueDictionary()
        self._locking = threading.Lock()

    def write_definition(self, sql: str, run: Callable[[str], object]) -> None:
        """Run a statement; if it writes a definition, make sure that none is lost.

        Parameters
        ----------
        sql : str
            The statement.
        run : Callable[[str], object]
            Runs a statement.

        Raises
        ------
        StorageFull
            There is no space for the definition, or it could not be written. An existing table keeps its former
            definition, and a new table does not exist.
        """
        if not _WRITES.match(sql):
            run(sql)
            return
        found = _CHANGES.match(sql)
        definition = self._find_definition(found) if found else None
        if found is None or definition is None:
            require_room_for_definition(self._engine_path, len(sql))
            run(sql)
            return
        with self._hold(definition):
            is_new = not definition.exists()
            require_room_for_definition(self._engine_path, len(sql) + (0 if is_new else definition.stat().st_size))
            kept = self._keep(definition) if is_whole(definition) else None
            try:
                run(sql)
            finally:
                is_lost = definition.exists() and not is_whole(definition)
                if kept is not None:
                    kept.replace(definition) if is_lost else kept.unlink(missing_ok=True)
            if is_lost:
                if is_new:
                    run(f"DROP {found['kind']} IF EXISTS {found['name']} SYNC")
                raise StorageFull("the definition could not be written")

    def repair_files(self) -> None:
        """Restore the files that the engine could not read, or put them aside; call this before the engine opens.

        Raises
        ------
        EngineUnavailable
            The definition of a table with rows is lost.
        StorageFull
            There is no space for the definition of a database.
        OSError
            A file cannot be read or renamed.
        """
        self._put_back_kept()
        for definition in sorted(self._metadata.glob("*.sql")):
            if not is_whole(definition):
                self._repair_database(definition)
        for definition in sorted(self._metadata.glob("*/*.sql")):
            if not is_whole(definition):
                self._repair_table(definition)
        store = self._engine_path / "store"
        for mutation in sorted(store.glob("*/*/mutation_*.txt")):
            if not _is_whole_mutation(mutation):
                self._put_aside(mutation, f"{mutation.parent.name}.{mutation.name}")
                _log_aside(mutation, "a change of rows that had not started")
        self._repair_formats(sorted(store.glob("*/*/format_version.txt")))

    def _find_definition(self, change: re.Match[str]) -> Path | None:
        """Return the file of the definition that a statement writes, as far as the statement names it."""
        names = [_escape_name(name) for name in split_table_name(change["name"])]
        if (change["kind"].upper() == "TABLE") != (len(names) == 2):
            return None
        return self._metadata.joinpath(*names[:-1], f"{names[-1]}.sql")

    @contextmanager
    def _hold(self, definition: Path) -> Iterator[None]:
        """Let one thread at a time change a definition."""
        with self._locking:
            lock = self._locks.setdefault(definition, threading.Lock())
        with lock:
            yield

    def _keep(self, definition: Path) -> Path:
        """Give the definition a second link, and return the link."""
        kept = self._engine_path / _KEPT / str(definition.relative_to(self._metadata)).replace("/", ".")
        kept.parent.mkdir(exist_ok=True, mode=0o700)
        kept.unlink(missing_ok=True)
        _link_or_copy(definition, kept)
        return kept

    def _put_back_kept(self) -> None:
        """Finish what a process left that was killed during an ALTER."""
        for kept in sorted((self._engine_path / _KEPT).glob("*.sql")):
            database, _, table = kept.stem.partition(".")
            definition = self._metadata / database / f"{table}.sql" if table else self._metadata / f"{database}.sql"
            if definition.exists() and not is_whole(definition) and is_whole(kept):
                kept.replace(definition)
                _log.warning("%s was empty or truncated, as on a full disk: its old definition is restored", definition)
            else:
                kept.unlink()

    def _repair_database(self, definition: Path) -> None:
        """Write a database's definition again; its tables are in the folder of its UUID, if it has any."""
        tables = definition.with_suffix("")
        found = _UUID.fullmatch(tables.resolve().name) if tables.is_symlink() else None
        if found is None:
            self._put_aside(definition, definition.name)
            _log_aside(definition, "a database without tables")
            return
        written = definition.with_suffix(".sql.tmp")
        try:
            written.write_text(f"ATTACH DATABASE _ UUID '{found[0]}'\nENGINE = Atomic\n")
        except OSError as error:
            raise StorageFull(f"{definition} is empty, and there is no space to write it again") from error
        written.replace(definition)
        _log.warning("%s was empty or truncated, as on a full disk: it was written again", definition)

    def _repair_table(self, definition: Path) -> None:
        database, table = definition.parent.name, definition.stem
        link = self._engine_path / "data" / database / table
        has_rows = link.is_dir() and any(_is_part(folder) for folder in link.iterdir())
        if has_rows and not is_remade(database, table):
            raise EngineUnavailable(
                f"the definition of the table {database}.{table}, {definition}, is empty or truncated, as on a full "
                f"disk, and the table has rows in {link.resolve()}: put the file back from a copy of the data, or "
                "move it away to open the data without this table"
            )
        if link.is_symlink():  # first: putting the file aside may need a block of the disk
            shutil.rmtree(link.resolve(), ignore_errors=True)
            link.unlink()
        self._put_aside(definition, f"{database}.{table}.sql")
        _log_aside(definition, "a table that was never published")

    def _repair_formats(self, files: list[Path]) -> None:
        """Restore the format version of each table, which is the same for all, by a link, which needs no space."""
        empty = [file for file in files if not file.stat().st_size]
        whole = next((file for file in files if file.stat().st_size), None)
        for file in empty:
            written = file.with_suffix(".tmp")
            written.unlink(missing_ok=True)
            if whole is None:
                written.write_text("1")
            else:
                _link_or_copy(whole, written)
            written.replace(file)
            _log.warning("%s was empty, as on a full disk: it was written again", file)

    def _put_aside(self, file: Path, name: str) -> None:
        folder = self._engine_path / _ASIDE
        folder.mkdir(exist_ok=True, mode=0o700)
        numbers = (old.name.partition("-")[0] for old in folder.iterdir())
        number = 1 + max((int(number) for number in numbers if _IS_NUMBER.fullmatch(number)), default=0)
        file.rename(folder / f"{number:04d}-{name}")


def _link_or_copy(file: Path, to: Path) -> None:
    """Give a file the second name ``to``: by a link, which needs no space, where the file system has links."""
    try:
        os.link(file, to)
    except OSError as error:
        if error.errno not in _WITHOUT_LINKS:
            raise
        shutil.copyfile(file, to)


def is_whole(definition: Path) -> bool:
    """Return whether a definition is complete, as far as its brackets and quotes show."""
    try:
        text = definition.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return False
    plain = _QUOTED.sub("", text)
    is_closed = plain.count("(") == plain.count(")") and not set("'`\"") & set(plain)
    return text.startswith("ATTACH ") and text.endswith("\n") and is_closed


def is_remade(database: str, table: str) -> bool:
    """Return whether a command or the service makes the table again if it is missing."""
    if database == TAP_SCHEMA_NAME or table.endswith(_REMADE_SUFFIXES):
        return True
    prefixes = {DATABASE: _REMADE_PREFIXES, USER_DATABASE: (STAGING_PREFIX,)}
    return table.startswith(prefixes.get(database, ()))


def _is_whole_mutation(file: Path) -> bool:
    text = file.read_text(encoding="utf-8", errors="replace")
    return text.startswith("format version: ") and "\ncommands: " in text and text.endswith("\n")


def _is_part(folder: Path) -> bool:
    return folder.is_dir() and folder.name != "detached" and not folder.name.startswith(("tmp", "delete_tmp"))


def _escape_name(name: str) -> str:
    """Return a name as ClickHouse writes it in file names."""
    return "".join(
        chr(byte) if byte < 128 and (chr(byte).isalnum() or byte == ord("_")) else f"%{byte:02X}"
        for byte in name.encode()
    )


def split_table_name(name: str) -> list[str]:
    """Return the parts of a table's name in a statement, without quotes."""
    return [re.sub(r"\\(.)", r"\1", part.strip("`")) for part in re.findall(NAME, name)]


def _log_aside(file: Path, what: str) -> None:
    _log.warning(
        "%s was empty or truncated, probably by a full disk, and was moved aside: it belonged to %s", file, what
    )
