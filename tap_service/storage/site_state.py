"""The messages of the operator to all processes of a deployment, and among these processes: small JSON documents.

Documents have a kind and, within it, a key; a document may expire. They are in the tables ``site:KIND``, as JSON
objects with ``value`` and ``expires``. Commands write them while the service runs, which reads them every second.
"""

from __future__ import annotations

import json
import time
from enum import StrEnum
from pathlib import Path
from typing import Any

from tap_service.storage.records.open_records import open_records
from tap_service.storage.records.record_format import RecordFormat
from tap_service.storage.records.record_store import RecordChange, RecordStore

#: name of the file in the directory for jobs
SITE_FILE = "site.sqlite"


class StateKind(StrEnum):
    """The kinds of documents.

    Attributes
    ----------
    DRAIN, DOWNTIMES, NOTES
        What the operator announces.
    CLAIMS
        The groups that issuers' tokens name, by user.
    WORK
        What runs, by process.
    STOPS
        What is to be stopped, by id.
    """

    DRAIN = "drain"
    DOWNTIMES = "downtimes"
    NOTES = "notes"
    CLAIMS = "claims"
    WORK = "work"
    STOPS = "stops"


class SiteStateUnavailable(Exception):
    """The documents cannot be read or written now; the message says why."""


_FORMAT = RecordFormat(
    file_name=SITE_FILE,
    subject="the state of the site",
    unavailable=SiteStateUnavailable,
    # the first release left the version at 0
    former_tables="CREATE TABLE IF NOT EXISTS document (kind TEXT, key TEXT, value TEXT, expires REAL)",
    conversion="""
INSERT INTO record SELECT
    'site:' || kind, key, '{"value": ' || value || ', "expires": ' || ifNull(expires, 'null') || '}' FROM document;
DROP TABLE document
""",
)


def open_site_state(redis_url: str, directory: Path | None) -> SiteState:
    """Open the documents of a deployment. Redis need not answer yet.

    Parameters
    ----------
    redis_url : str
        The Redis that has them; '' for a file.
    directory : Path | None
        The directory of the file, which is created if it is missing.

    Raises
    ------
    SiteStateUnavailable
        The file cannot be used.
    ValueError
        There is neither a URL nor a directory.
    """
    return SiteState(open_records(_FORMAT, redis_url, directory))


class SiteState:
    """The documents. Safe for threads and processes. Methods raise SiteStateUnavailable."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records

    def read_all(self, kind: StateKind) -> dict[str, Any]:
        """Return the documents of a kind. Deletes documents that have expired.

        Parameters
        ----------
        kind : StateKind
            The kind.

        Returns
        -------
        dict[str, Any]
            The values by key, in the order of their keys.
        """
        with self._records.read_records() as records:
            found = records.get_records(_table(kind))
        documents = {key: json.loads(text) for key, text in sorted(found.items())}
        if expired := [key for key, document in documents.items() if _has_expired(document)]:
            self._records.change_records(lambda change: _delete_expired(change, kind, expired))
        return {key: document["value"] for key, document in documents.items() if key not in expired}

    def get(self, kind: StateKind, key: str) -> Any:
        """Return one document.

        Parameters
        ----------
        kind : StateKind
            The kind.
        key : str
            The key of the document among the documents of this kind.

        Returns
        -------
        Any
            The value, parsed from JSON; None if there is no document, or if it has expired.
        """
        with self._records.read_records() as records:
            text = records.get_record(_table(kind), key)
        document = None if text is None else json.loads(text)
        return None if document is None or _has_expired(document) else document["value"]

    def put(self, kind: StateKind, key: str, value: Any, seconds: float | None = None) -> None:
        """Write a document, or replace it.

        Parameters
        ----------
        kind, key
            Which document.
        value : Any
            What JSON can express.
        seconds : float | None
            Time until the document expires; None for no expiry.
        """
        text = json.dumps({"value": value, "expires": None if seconds is None else time.time() + seconds})
        self._records.change_records(lambda change: change.put_record(_table(kind), key, text))

    def remove(self, kind: StateKind, key: str) -> bool:
        """Delete a document.

        Parameters
        ----------
        kind, key
            As for ``get``.

        Returns
        -------
        bool
            Whether there was a document, even if it had expired.
        """

        def remove(change: RecordChange) -> bool:
            is_present = change.get_record(_table(kind), key) is not None
            change.delete_records(_table(kind), [key])
            return is_present

        return self._records.change_records(remove)

    def close(self) -> None:
        self._records.close()


def _delete_expired(change: RecordChange, kind: StateKind, keys: list[str]) -> None:
    """Delete documents, unless they have been replaced since."""
    found = {key: change.get_record(_table(kind), key) for key in keys}
    change.delete_records(_table(kind), [key for key, text in found.items() if text and _has_expired(json.loads(text))])


def _has_expired(document: dict[str, Any]) -> bool:
    return document["expires"] is not None and document["expires"] <= time.time()


def _table(kind: StateKind) -> str:
    return f"site:{kind}"
