"""The share store: the records of shares.

    shares:records                          the shares by id, in JSON
    shares:created, shares:created:USER     ids by the instant of creation
    shares:due                              ids by the instant at which something of the share is to be deleted
    shares:bytes                            ids by the bytes that the share takes
    shares:anonymous                        ids of anonymous clients' shares by the bytes that the share takes
    shares:state                            the version of the indexes; without it they are made from the records

Each change of a share changes all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter

from tap_service.models.share import Share
from tap_service.models.timestamps import instant_to_milliseconds
from tap_service.storage.records.open_records import open_records
from tap_service.storage.records.record_format import RecordFormat
from tap_service.storage.records.record_store import RecordChange, RecordReader, RecordStore

#: name of the file in the directory for jobs
SHARES_FILE = "shares.sqlite"

_RECORDS, _CREATED, _DUE, _BYTES, _ANONYMOUS, _STATE = (
    f"shares:{name}" for name in ("records", "created", "due", "bytes", "anonymous", "state")
)
_VERSION = "2"

_RECORD: TypeAdapter[Share] = TypeAdapter(Share)


class ShareStoreError(Exception):
    """An operation of the share store failed."""


class NoSuchShare(ShareStoreError):
    """There is no share with this id, or no longer."""


class ShareStoreUnavailable(ShareStoreError):
    """The shares cannot be read or written now; the message says why."""


@dataclass(frozen=True, slots=True)
class StoredShares:
    """The size of stored shares.

    Attributes
    ----------
    number, size : int
        Number and bytes of one user's shares.
    anonymous_size, total_size : int
        Bytes of the shares of all anonymous clients, and of all shares.
    """

    number: int
    size: int
    anonymous_size: int
    total_size: int


_FORMAT = RecordFormat(
    file_name=SHARES_FILE,
    subject="the store of shares",
    unavailable=ShareStoreUnavailable,
    former_tables="CREATE TABLE shares (share_id TEXT, record TEXT)",
    conversion="""
INSERT INTO record SELECT 'shares:records', share_id, record FROM shares;
DROP TABLE shares
""",
)


class ShareStore:
    """The store of shares. Thread-safe. Every method may raise ShareStoreUnavailable.

    A ``user`` is a ``Share.user``: the name of a user, or the anonymous clients at one address; '' stands for all.
    """

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._is_indexed = False

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
        ShareStoreUnavailable, ValueError
            As for ``open_records``.
        """
        return cls(open_records(_FORMAT, redis_url, directory))

    def create_share(self, share: Share, check: Callable[[StoredShares], None]) -> None:
        """Store a new share, unless ``check`` raises.

        Parameters
        ----------
        share : Share
            The share.
        check : Callable[[StoredShares], None]
            Gets what is stored without it, by its user and by all. No other share is stored between this call and the
            change; it may be called several times.
        """

        def create(change: RecordChange) -> None:
            check(_count(change, share.user))
            _write(change, share)

        self._complete_indexes()
        self._records.change_records(create)

    def write_share(self, share: Share) -> None:
        """Store a share, or replace its record.

        Parameters
        ----------
        share : Share
            The share. Unlike ``replace_share``, this stores it even if it has just been deleted.
        """
        self._records.change_records(lambda change: _write(change, share))

    def replace_share(self, share: Share) -> None:
        """Replace the record of a share.

        Parameters
        ----------
        share : Share
            The new record, with the id of a stored share.

        Raises
        ------
        NoSuchShare
            The share has been deleted in the meantime.
        """

        def replace(change: RecordChange) -> None:
            _require(change.get_record(_RECORDS, share.share_id), share.share_id)
            _write(change, share)

        self._records.change_records(replace)

    def get_share(self, share_id: str) -> Share:
        """Return a share.

        Parameters
        ----------
        share_id : str
            Its id.

        Raises
        ------
        NoSuchShare
            There is no share with this id.
        """
        with self._records.read_records() as records:
            return _require(records.get_record(_RECORDS, share_id), share_id)

    def delete_share(self, share_id: str) -> Share:
        """Delete the record of a share; the caller deletes its files.

        Parameters
        ----------
        share_id : str
            Its id.

        Returns
        -------
        Share
            The last record.

        Raises
        ------
        NoSuchShare
            There is no share with this id. Of two concurrent callers, one gets the share.
        """

        def delete(change: RecordChange) -> Share:
            share = _require(change.get_record(_RECORDS, share_id), share_id)
            change.delete_records(_RECORDS, [share_id])
            for index in (*_list_scores(share), _ANONYMOUS):
                change.remove_members(index, [share_id])
            return share

        return self._records.change_records(delete)

    def list_shares(self, user: str = "", last: int | None = None) -> list[Share]:
        """Return shares, the newest first.

        Parameters
        ----------
        user : str
            Whose shares; '' for all.
        last : int | None
            Maximum number of shares to return; None for all.
        """
        self._complete_indexes()
        with self._records.read_records() as records:
            return _get_all(records, records.list_members(_index_created(user), descending=True, limit=last))

    def list_due(self, at: datetime, limit: int) -> list[Share]:
        """Return shares of which something is to be deleted (``Share.due``).

        Parameters
        ----------
        at : datetime
            The present instant.
        limit : int
            Maximum number of shares to return.
        """
        self._complete_indexes()
        with self._records.read_records() as records:
            return _get_all(records, records.list_up_to(_DUE, instant_to_milliseconds(at), limit))

    def count_shares(self, user: str) -> StoredShares:
        """Return the sizes of the shares of a user and of all shares (``Share.stored_bytes``)."""
        self._complete_indexes()
        with self._records.read_records() as records:
            return _count(records, user)

    def close(self) -> None:
        self._records.close()

    def _complete_indexes(self) -> None:
        """Make the indexes that earlier versions did not have, once."""
        if self._is_indexed:
            return
        with self._records.read_records() as records:
            is_complete = records.get_record(_STATE, "version") == _VERSION
        if not is_complete:
            self._records.change_records(_write_indexes)
        self._is_indexed = True


def _write_indexes(change: RecordChange) -> None:
    for text in change.get_records(_RECORDS).values():
        _write(change, _RECORD.validate_json(text))
    change.put_record(_STATE, "version", _VERSION)


def _write(change: RecordChange, share: Share) -> None:
    change.put_record(_RECORDS, share.share_id, _RECORD.dump_json(share).decode())
    for index, score in _list_scores(share).items():
        change.add_members(index, {share.share_id: score})


def _list_scores(share: Share) -> dict[str, int]:
    """Return the score of a share in each index."""
    created = instant_to_milliseconds(share.creation_time)
    sizes = dict.fromkeys((_BYTES, *([_ANONYMOUS] if share.owner is None else [])), share.stored_bytes)
    return {
        _index_created(""): created,
        _index_created(share.user): created,
        _DUE: instant_to_milliseconds(share.due),
        **sizes,
    }


def _count(records: RecordReader, user: str) -> StoredShares:
    sizes = records.read_scores(_BYTES)
    ids = records.list_members(_index_created(user))
    anonymous_size = sum(records.read_scores(_ANONYMOUS).values())
    return StoredShares(len(ids), sum(sizes.get(each, 0) for each in ids), anonymous_size, sum(sizes.values()))


def _get_all(records: RecordReader, ids: Iterable[str]) -> list[Share]:
    return [_RECORD.validate_json(text) for text in records.find_records(_RECORDS, ids)]


def _require(text: str | None, share_id: str) -> Share:
    if text is None:
        raise NoSuchShare(share_id)
    return _RECORD.validate_json(text)


def _index_created(user: str) -> str:
    return f"{_CREATED}:{user}" if user else _CREATED
