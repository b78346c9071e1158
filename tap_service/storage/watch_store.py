"""The watch store: the records of watches, in the table ``watches:records`` by id, in JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter

from tap_service.models.watch import Watch
from tap_service.storage.records.open_records import open_records
from tap_service.storage.records.record_format import RecordFormat
from tap_service.storage.records.record_store import RecordChange, RecordReader, RecordStore

#: name of the file in the directory for jobs
WATCHES_FILE = "watches.sqlite"

_RECORDS = "watches:records"

_RECORD: TypeAdapter[Watch] = TypeAdapter(Watch)


class WatchStoreError(Exception):
    """An operation of the watch store failed."""


class NoSuchWatch(WatchStoreError):
    """There is no watch with this id, or no longer."""


class NameTaken(WatchStoreError):
    """The owner has another watch of this name."""


class TooManyWatches(WatchStoreError):
    """The owner has the maximum number of watches; the message is that number."""


class WatchStoreUnavailable(WatchStoreError):
    """The watches cannot be read or written now; the message says why."""


_FORMAT = RecordFormat(
    file_name=WATCHES_FILE,
    subject="the store of watches",
    unavailable=WatchStoreUnavailable,
    former_tables="CREATE TABLE watches (watch_id TEXT, record TEXT)",
    conversion="""
INSERT INTO record SELECT 'watches:records', watch_id, record FROM watches;
DROP TABLE watches
""",
)


class WatchStore:
    """The store of watches. Thread-safe. Every method may raise WatchStoreUnavailable."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records

    @classmethod
    def open(cls, redis_url: str, directory: Path | None) -> Self:
        """Open the store.

        Parameters
        ----------
        redis_url : str
            The Redis that has it; '' for a file.
        directory : Path | None
            The directory of the file.

        Raises
        ------
        WatchStoreUnavailable, ValueError
            As for ``open_records``.
        """
        return cls(open_records(_FORMAT, redis_url, directory))

    def add_watch(self, watch: Watch, limit: int | None = None) -> None:
        """Store a new watch.

        Raises
        ------
        NameTaken
            The owner has another watch of this name.
        TooManyWatches
            The owner has ``limit`` watches already.
        """

        def add(change: RecordChange) -> None:
            # a change whose answer was lost is made again
            present = [each for each in _list(change, watch.owner) if each.watch_id != watch.watch_id]
            if limit is not None and len(present) >= limit:
                raise TooManyWatches(len(present))
            if watch.name in (each.name for each in present):
                raise NameTaken(watch.name)
            _write(change, watch)

        self._records.change_records(add)

    def get_watch(self, watch_id: str) -> Watch:
        """Return a watch.

        Parameters
        ----------
        watch_id : str
            Its id.

        Raises
        ------
        NoSuchWatch
            There is no watch with this id.
        """
        with self._records.read_records() as records:
            return _get(records, watch_id)

    def change_watch(self, watch_id: str, change: Callable[[Watch], Watch]) -> Watch:
        """Change a watch atomically.

        Parameters
        ----------
        watch_id : str
            The id of the watch.
        change : Callable[[Watch], Watch]
            Returns the changed watch, with the same id, owner and name. It may be called several times. If it raises,
            the watch stays as it is.

        Returns
        -------
        Watch
            The changed watch.

        Raises
        ------
        NoSuchWatch
            There is no watch with this id.
        """

        def replace(records: RecordChange) -> Watch:
            changed = change(_get(records, watch_id))
            _write(records, changed)
            return changed

        return self._records.change_records(replace)

    def delete_watch(self, watch_id: str) -> Watch:
        """Delete a watch.

        Parameters
        ----------
        watch_id : str
            Its id.

        Returns
        -------
        Watch
            The last record.

        Raises
        ------
        NoSuchWatch
            There is no watch with this id. Of two concurrent callers, one gets the watch.
        """

        def delete(change: RecordChange) -> Watch:
            watch = _get(change, watch_id)
            change.delete_records(_RECORDS, [watch_id])
            return watch

        return self._records.change_records(delete)

    def list_watches(self, owner: str | None = None) -> list[Watch]:
        """List watches by owner and name.

        Parameters
        ----------
        owner : str | None
            Whose watches; None for all users.
        """
        with self._records.read_records() as records:
            return _list(records, owner)

    def close(self) -> None:
        self._records.close()


def _get(records: RecordReader, watch_id: str) -> Watch:
    text = records.get_record(_RECORDS, watch_id)
    if text is None:
        raise NoSuchWatch(watch_id)
    return _RECORD.validate_json(text)


def _list(records: RecordReader, owner: str | None) -> list[Watch]:
    found = [_RECORD.validate_json(text) for text in records.get_records(_RECORDS).values()]
    wanted = (watch for watch in found if owner is None or watch.owner == owner)
    return sorted(wanted, key=lambda watch: (watch.owner, watch.name))


def _write(change: RecordChange, watch: Watch) -> None:
    change.put_record(_RECORDS, watch.watch_id, _RECORD.dump_json(watch).decode())
