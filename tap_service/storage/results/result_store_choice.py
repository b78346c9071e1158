"""Which result store an address means."""

from __future__ import annotations

from pathlib import Path

from tap_service.storage.results.fsspec_result_store import FsspecResultStore
from tap_service.storage.results.local_result_store import LocalResultStore
from tap_service.storage.results.result_store import ResultStore


def result_store(address: str) -> ResultStore:
    """``address`` is a directory, which may be shared over the network, or what fsspec knows, such as s3://bucket.

    Raises OSError if there is no way to it.
    """
    if "://" in address and not address.startswith("file://"):
        return FsspecResultStore(address)
    return LocalResultStore(Path(address.removeprefix("file://")))
