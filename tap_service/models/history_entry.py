"""A query in a user's history."""

from __future__ import annotations

import secrets
from datetime import datetime

from pydantic import Field

from tap_service.models.json_document import Instant, JsonDocument
from tap_service.models.timestamps import instant_to_milliseconds


class HistoryEntry(JsonDocument):
    """A finished query, sent to /sync or run as a job."""

    id: str = Field(description="Id; ids sort in the order of the queries")
    job_id: str | None = Field(description="Id of the job, which may have been deleted; null for a query sent to /sync")
    created: Instant = Field(description="Instant at which the query arrived, or the job was created")
    seconds: float = Field(description="Duration including the time to wait, in seconds")
    engine_seconds: float = Field(description="Duration in the engine, in seconds")
    status: str = Field(description="OK, OVERFLOW, REUSED, ERROR, ABORTED, or GONE if the client disconnected")
    rows: int
    bytes: int
    format: str
    run_id: str
    query: str
    is_cut: bool = Field(description="Whether the query is truncated because it was too long")
    error: str


def make_entry_id(created: datetime) -> str:
    """Return a new id of an entry.

    Parameters
    ----------
    created : datetime
        The instant at which the query arrived.

    Returns
    -------
    str
        An id; ids sort in the order of the instants, as text.
    """
    return f"{first_id_at(created)}-{secrets.token_hex(6)}"


def first_id_at(instant: datetime) -> str:
    """Return a limit for ids of the history.

    Parameters
    ----------
    instant : datetime
        An instant, of which the milliseconds count.

    Returns
    -------
    str
        A string that sorts before all ids of this instant, and after all ids of earlier instants.
    """
    return f"{instant_to_milliseconds(instant):015d}"
