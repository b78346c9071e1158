"""What runs now, as ``skyhouse queries`` and the portal's administrators see it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

#: characters of a query that are shown
_MAX_QUERY = 200


@dataclass(frozen=True, slots=True)
class RunningWork:
    """A query of /sync, a job that runs, or the download of a job's result.

    Attributes
    ----------
    work_id
        What ``stop`` takes: the id of the query or the job, or the download's own.
    kind
        sync, job or download.
    client
        The user, or the address of an anonymous client.
    lane
        The lane of a query, the work class of a job; '' for a download.
    state
        running, or waiting for a place in the lane.
    since
        When the request came or the job started, in ISO 8601.
    query
        The beginning of the ADQL, on one line.
    read_rows, read_bytes, memory
        What the engine has read, and its memory in bytes.
    sent_bytes
        Bytes of the result so far.
    """

    work_id: str
    kind: str
    client: str
    lane: str
    state: str
    since: str
    query: str
    read_rows: int = 0
    read_bytes: int = 0
    memory: int = 0
    sent_bytes: int = 0

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


def shorten_query(text: str) -> str:
    """Return the beginning of a query on one line, without control characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 2 * _MAX_QUERY]).split())
    return line if len(line) <= _MAX_QUERY and len(text) <= 2 * _MAX_QUERY else line[: _MAX_QUERY - 1] + "…"
