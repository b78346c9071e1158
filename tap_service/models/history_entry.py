"""A query in a user's history."""

from __future__ import annotations

import secrets
from datetime import datetime

from pydantic import Field

from tap_service.models.json_document import Instant, JsonDocument
from tap_service.models.timestamps import instant_to_milliseconds


class HistoryEntry(JsonDocument):
    """A query that has ended, by /sync or as a job."""

    id: str = Field(description="In the order of the queries")
    job_id: str | None = Field(description="The job, which may be deleted; null for a query by /sync")
    created: Instant = Field(description="When the query came, or the job was created")
    seconds: float = Field(description="Until it ended, with its waiting")
    engine_seconds: float
    status: str = Field(description="OK, OVERFLOW, REUSED, ERROR, ABORTED, or GONE if the client left")
    rows: int
    bytes: int
    format: str
    run_id: str
    query: str
    is_cut: bool = Field(description="Whether the query was too long to be kept whole")
    error: str


def make_entry_id(created: datetime) -> str:
    """Return a new id; ids are ordered like the instants."""
    return f"{first_id_at(created)}-{secrets.token_hex(6)}"


def first_id_at(instant: datetime) -> str:
    """Return a text below all ids of this instant and above those of earlier ones."""
    return f"{instant_to_milliseconds(instant):015d}"
