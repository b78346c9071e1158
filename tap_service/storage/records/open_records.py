"""Open a record store: in Redis on a cluster, else in an SQLite file."""

from __future__ import annotations

from pathlib import Path

from tap_service.storage.records.record_format import RecordFormat
from tap_service.storage.records.record_store import RecordStore
from tap_service.storage.records.sqlite_record_store import SqliteRecordStore


def open_records(record_format: RecordFormat, redis_url: str, directory: Path | None) -> RecordStore:
    """Open the records of one store.

    Parameters
    ----------
    record_format : RecordFormat
        Which store.
    redis_url : str
        The Redis that has the records, which need not answer yet; '' for a file.
    directory : Path | None
        The directory of the file, which is created if it is missing.

    Raises
    ------
    ValueError
        There is neither a URL nor a directory.
    Exception
        ``record_format.unavailable``, if the file cannot be used.
    """
    if redis_url:
        # commands without a cluster start faster without this import
        from tap_service.storage.records.redis_record_store import RedisRecordStore

        return RedisRecordStore(redis_url, record_format)
    if directory is None:
        raise ValueError("no directory for jobs is set: give SKYHOUSE_JOBS_PATH")
    return SqliteRecordStore(directory, record_format)
