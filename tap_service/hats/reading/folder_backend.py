"""The interface of storages: one request for each call, without retries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from clickhouse_schema.hats.hats_error import HatsError


class FileVersion(NamedTuple):
    """The present state of a file.

    Attributes
    ----------
    size : int
        In bytes.
    tag : str
        Its ETag or time of change; another tag means other content.
    """

    size: int
    tag: str


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a storage may take.

    Attributes
    ----------
    connect_seconds : float
        Time limit of a connection.
    silence_seconds : float
        Time limit without a byte of an answer.
    bytes_per_second : float
        A slower answer is given up, after its first ``silence_seconds``.
    attempts : int
        Number of requests for the same bytes, if the storage fails for a passing reason.
    pause_seconds : float
        Pause before the second attempt; it doubles before each later one.
    """

    connect_seconds: float = 10
    silence_seconds: float = 30
    bytes_per_second: float = 64 << 10
    attempts: int = 5
    pause_seconds: float = 0.5

    def limit_seconds(self, size: int) -> float:
        """Return the time limit of an answer in seconds.

        Parameters
        ----------
        size : int
            The expected size of the answer in bytes.
        """
        return self.silence_seconds + size / self.bytes_per_second


class FileMissing(HatsError):
    """The file does not exist, or the storage refuses it."""


class StorageUnavailable(HatsError):
    """The storage does not answer, or gives no valid answer, after all attempts."""


class PassingFailure(Exception):
    """A request failed, and may succeed if it is repeated. The message is the end of a sentence."""


class FolderBackend(Protocol):
    """The requests to the storage of a folder. Paths are relative to the folder and have been checked. Thread-safe."""

    def stat(self, path: str) -> FileVersion:
        """Return the present state of a file.

        Parameters
        ----------
        path : str
            The file.

        Returns
        -------
        FileVersion
            Its size in bytes, and the tag of its content.

        Raises
        ------
        FileMissing
            The file does not exist.
        HatsError
            The storage does not state size or version, or refuses the request for good.
        PassingFailure
            The request failed.
        """

    def read(self, path: str, start: int, length: int, version: FileVersion) -> bytes:
        """Return a range of a file as it was at a version.

        Parameters
        ----------
        path : str
            The file.
        start, length : int
            The range in bytes, which is inside the file.
        version : FileVersion
            What ``stat`` returned.

        Returns
        -------
        bytes
            The bytes, fewer if the storage breaks off.

        Raises
        ------
        FileMissing, PassingFailure
            The file does not exist, or the request failed.
        HatsError
            The file has changed.
        """

    def list_files(self, path: str) -> list[str]:
        """List the files below a folder, at any depth.

        Parameters
        ----------
        path : str
            The folder; '' for the folder of this object.

        Returns
        -------
        list of str
            Paths, in any order; none if the folder does not exist.

        Raises
        ------
        HatsError
            The storage has no lists.
        PassingFailure
            The request failed.
        """


def refuse_other_version(name: str, now: FileVersion, version: FileVersion) -> None:
    """Raise HatsError if the file ``name`` has changed since ``version``; ``now`` is its present state."""
    if now != version:
        raise HatsError(
            f"{name} has changed: it had {version.size:,} bytes and the version {version.tag}, and has {now.size:,}"
            f" bytes and the version {now.tag} now. Read it again when nothing changes it any more"
        )
