"""Running queries, jobs and downloads, for ``skyhouse queries`` and the administration page of the portal."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

#: maximum number of characters of a query that are shown
_MAX_QUERY = 200


@dataclass(frozen=True, slots=True)
class RunningWork:
    """A query sent to /sync, a running job, or the download of a job's result.

    Attributes
    ----------
    work_id : str
        The id of the query, of the job or of the download, by which it can be stopped.
    kind : str
        ``sync``, ``job`` or ``download``.
    client : str
        The user, or the address of an anonymous client.
    lane : str
        The lane of a query, or the work class of a job; '' for a download.
    state : str
        ``running``, or ``waiting`` for a slot of the lane.
    since : str
        The instant at which the request arrived or the job started, in ISO 8601.
    query : str
        The start of the ADQL, on one line.
    read_rows, read_bytes, memory : int
        The rows and bytes that the engine has read, and its memory in bytes.
    sent_bytes : int
        The bytes of the result that were sent so far.
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
        """Return the JSON of the work."""
        return asdict(self)


def shorten_query(text: str) -> str:
    """Return the start of a query for a list.

    Parameters
    ----------
    text : str
        The ADQL.

    Returns
    -------
    str
        Up to 200 characters on one line, without control characters; a truncated query ends in "…".
    """
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 2 * _MAX_QUERY]).split())
    return line if len(line) <= _MAX_QUERY and len(text) <= 2 * _MAX_QUERY else line[: _MAX_QUERY - 1] + "…"
