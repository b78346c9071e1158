"""What a storage does for a folder: one request a call, without repetition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from clickhouse_schema.hats.hats_error import HatsError


class FileVersion(NamedTuple):
    """A file as it is now. ``tag``: its ETag or time of change; another tag is another content."""

    size: int
    tag: str


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a storage may take.

    Attributes
    ----------
    connect_seconds
        For a connection.
    silence_seconds
        Without a byte of an answer.
    bytes_per_second
        An answer that comes more slowly, after its first ``silence_seconds``, is given up.
    attempts
        Requests for the same bytes, if the storage fails in a way that may pass.
    pause_seconds
        Before the second attempt; twice as long before each later one.
    """

    connect_seconds: float = 10
    silence_seconds: float = 30
    bytes_per_second: float = 64 << 10
    attempts: int = 5
    pause_seconds: float = 0.5

    def limit_seconds(self, size: int) -> float:
        """Return the limit of an answer of ``size`` bytes."""
        return self.silence_seconds + size / self.bytes_per_second


class FileMissing(HatsError):
    """There is no such file, or the storage refuses it."""


class StorageUnavailable(HatsError):
    """The storage does not answer, or not with what was asked for, however often it is asked."""


class PassingFailure(Exception):
    """A request that failed and may succeed when it is repeated. The message is the end of a sentence."""


class FolderBackend(Protocol):
    """A folder of files. Paths are relative to it and have been checked. Thread-safe."""

    def stat(self, path: str) -> FileVersion:
        """Return the size and the version of a file. Raises FileMissing, HatsError, PassingFailure."""

    def read(self, path: str, start: int, length: int, version: FileVersion) -> bytes:
        """Return bytes of a file as it was at ``version``; fewer if the storage breaks off.

        Raises FileMissing, HatsError (the file has changed), PassingFailure.
        """

    def list_files(self, path: str) -> list[str]:
        """Return the paths of all files below a folder; none if there is no such folder.

        Raises HatsError (the storage has no lists), PassingFailure.
        """


def refuse_other_version(name: str, now: FileVersion, version: FileVersion) -> None:
    """Raise HatsError if the file ``name`` has changed since ``version``."""
    if now != version:
        raise HatsError(
            f"{name} has changed: it had {version.size:,} bytes and the version {version.tag}, and has {now.size:,}"
            f" bytes and the version {now.tag} now. Read it again when nothing writes there any more"
        )
