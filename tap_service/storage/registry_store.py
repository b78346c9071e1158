"""The records that the registry has published, in an SQLite file: harvesters ask which were changed and deleted.

A record keeps the instant of its last change while its content stays the same, and keeps its identifier permanently.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from tap_service.models.registry_record import RecordDraft, RegistryRecord
from tap_service.models.timestamps import format_second
from tap_service.storage.sqlite_file import SqliteFile
from tap_service.storage.sqlite_versions import execute_script
from tap_service.xml_text import Markup

#: ``_STEPS[n]`` brings the file from version n to n + 1
_STEPS = (
    execute_script("""
CREATE TABLE record (
    identifier TEXT PRIMARY KEY COLLATE NOCASE,
    changed INTEGER NOT NULL,
    digest TEXT NOT NULL,
    resource TEXT NOT NULL,
    dublin_core TEXT NOT NULL
);
CREATE TABLE opened (instant INTEGER NOT NULL);
"""),
)

_DELETED = ""
_WINDOW = "changed BETWEEN :first AND :last"


class RegistryStoreError(Exception):
    """The file cannot be used; the message says why and what to do."""


class RegistryStore:
    """The file of published records. Safe for several threads and processes."""

    def __init__(self, path: Path) -> None:
        problem = f"the file of published records {path} cannot be used"
        way_out = "make it writable, or name another one in SKYHOUSE_REGISTRY_STATE"
        self._file = SqliteFile(path, _STEPS, RegistryStoreError, problem, way_out=way_out)

    def close(self) -> None:
        self._file.close()

    # --- changes

    def publish(self, drafts: Iterable[RecordDraft], now: int) -> None:
        """Publish records, in one transaction; records that are not among them become deleted.

        Parameters
        ----------
        drafts : Iterable[RecordDraft]
            The records. Those with new content get the present instant as the instant of their change.
        now : int
            Unix time in whole seconds. If the clock went back, the latest instant of the file is used.

        Raises
        ------
        RegistryStoreError
            The file cannot be written. Exceptions of the drafts pass through; then nothing changes.
        """
        with self._file.begin_transaction() as connection:
            [(latest,)] = connection.execute("SELECT max(instant) FROM opened")
            if latest is None:
                connection.execute("INSERT INTO opened VALUES (?)", (now,))
            [(changed,)] = connection.execute("SELECT max(?, ifNull(max(changed), 0)) FROM record", (now,))
            digests = dict(connection.execute("SELECT identifier, digest FROM record"))
            for draft in drafts:
                digest = _compute_digest(draft)
                if digests.pop(draft.identifier, None) != digest:
                    resource = draft.write_resource(format_second(changed))
                    connection.execute(
                        "INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?, ?)",
                        (draft.identifier, changed, digest, resource, draft.dublin_core),
                    )
            for gone in (identifier for identifier, digest in digests.items() if digest != _DELETED):
                connection.execute(
                    "UPDATE record SET changed = ?, digest = ?, resource = '', dublin_core = '' WHERE identifier = ?",
                    (changed, _DELETED, gone),
                )

    # --- reading

    def read_start(self) -> int | None:
        """Return the Unix time of the first publication, before which no record has changed; None without any."""
        with self._file.borrow_connection() as connection:
            start: int | None = connection.execute("SELECT min(instant) FROM opened").fetchone()[0]
            return start

    def find_record(self, identifier: str) -> RegistryRecord | None:
        """Find one record.

        Parameters
        ----------
        identifier : str
            Its IVOA identifier, in any case.

        Returns
        -------
        RegistryRecord | None
            The record with its content, also if it is deleted; None if it was never published.

        Raises
        ------
        RegistryStoreError
            The file cannot be read.
        """
        found = self._select("identifier = :identifier", {"identifier": identifier}, 1, with_content=True)
        return found[0] if found else None

    def count_records(self, first: int, last: int) -> int:
        """Count the records that changed between two instants.

        Parameters
        ----------
        first, last : int
            Unix times, both included.
        """
        with self._file.borrow_connection() as connection:
            sql = f"SELECT count(*) FROM record WHERE {_WINDOW}"
            return int(connection.execute(sql, {"first": first, "last": last}).fetchone()[0])

    def list_records(
        self, first: int, last: int, after: str, limit: int, *, with_content: bool
    ) -> list[RegistryRecord]:
        """Return records that changed between two instants, ordered by identifier.

        Parameters
        ----------
        first, last : int
            Unix times, both included.
        after : str
            Only records with identifiers after this one.
        limit : int
            Maximum number of records to return.
        with_content : bool
            Whether to read the documents too.
        """
        values: dict[str, int | str] = {"first": first, "last": last, "after": after}
        return self._select(f"{_WINDOW} AND identifier > :after", values, limit, with_content=with_content)

    def _select(
        self, where: str, values: dict[str, int | str], limit: int, *, with_content: bool
    ) -> list[RegistryRecord]:
        content = "resource, dublin_core" if with_content else "'', ''"
        sql = (
            f"SELECT identifier, changed, digest, {content} FROM record WHERE {where} ORDER BY identifier LIMIT :limit"
        )
        with self._file.borrow_connection() as connection:
            return [
                RegistryRecord(identifier, changed, digest == _DELETED, Markup(resource), Markup(dublin_core))
                for identifier, changed, digest, resource, dublin_core in connection.execute(
                    sql, {**values, "limit": limit}
                )
            ]


def _compute_digest(draft: RecordDraft) -> str:
    content = f"{draft.write_resource('')}{draft.dublin_core}".encode()
    return hashlib.sha256(content).hexdigest()
