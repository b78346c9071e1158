"""Settings of queries: limits, memory, and the spool of results."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator

from tap_service.settings.client_limits import ClientLimit, parse_client_limits


class QuerySettings(BaseModel):
    sync_seconds: float = Field(
        10.0,
        gt=0,
        title="Time limit of a synchronous query, in seconds",
        description=(
            "Counts the working time of the engine, but not the time to wait for a slot, to write rows in the format "
            "of the result, or to download them."
        ),
    )
    sync_timeout_jobs: Literal["never", "on-request", "always"] = Field(
        "on-request",
        title="Conversion of synchronous queries to jobs at the time limit",
        description=(
            "never; on-request: if the request has ON_TIMEOUT=job; always: unless the request has ON_TIMEOUT=error. "
            "The error message then names the job, which has the same query and belongs to the client."
        ),
    )
    default_maxrec: int = Field(
        100_000,
        ge=1,
        title="Row limit of a request without MAXREC",
        description="A result that is truncated at this limit states the limit and how to get more rows.",
    )
    hard_maxrec: int = Field(
        10_000_000,
        ge=1,
        title="Maximum row limit of a request",
        description="A higher MAXREC is reduced to this number.",
    )
    votable_version: Literal["1.4", "1.5", "1.6"] = Field(
        "1.4",
        title="Version of error documents, and of VOTables whose request names no version",
        description=(
            "1.5 has reference positions and all frames of coordinate systems, but CADC's client and the validators of"
            " STILTS 3.4 refuse it; 1.6, a working draft, has UTF-8 in char. A request may name any of these versions."
        ),
    )
    max_query_length: int = Field(
        500_000,
        ge=1000,
        le=1_000_000,
        title="Maximum length of a query, in characters",
        description="The service refuses a longer query without parsing it.",
    )
    translation_seconds: float = Field(
        1.0,
        gt=0,
        title="Time limit of the translation of a query, in seconds",
        description=(
            "Counts processor time, but not the time to resolve names of objects. Queries of more than 1000 "
            "characters are translated in separate processes, which end at the limit."
        ),
    )
    concurrent_queries: int = Field(
        max(2, os.cpu_count() or 1),
        ge=1,
        title="Maximum number of heavy queries that run at the same time",
        description=(
            "The same number of medium queries and twice as many light queries can run in addition. Further queries "
            "wait, and clients take turns. By default the number of processor cores, at least two."
        ),
    )
    bulk_queries: int = Field(
        max(2, (os.cpu_count() or 1) // 2),
        ge=1,
        title="Maximum number of large downloads that run at the same time",
        description=(
            "A large download is a query that mostly writes rows. It runs until all rows are in the spool, not until "
            "the client has read them. By default half the number of processor cores, at least two."
        ),
    )
    waiting_queries: int = Field(
        500,
        ge=0,
        title="Maximum number of waiting queries",
        description=(
            "Light, medium and heavy queries and large downloads are counted separately. When this number of queries "
            "wait, the next client gets 503 with Retry-After."
        ),
    )
    client_running_queries: int = Field(
        2 * max(2, os.cpu_count() or 1),
        ge=1,
        title="Maximum number of queries of one client that run at the same time",
        description=(
            "Light, medium and heavy queries and large downloads are counted separately; one slot of each kind always "
            "remains for another client. A client is a user, or an anonymous address (an IPv6 /64 network). By "
            "default twice the number of processor cores."
        ),
    )
    client_waiting_queries: int = Field(
        50,
        ge=0,
        title="Maximum number of waiting queries of one client",
        description=(
            "Counted in the same way as running queries. Further queries of the client get 429 with Retry-After."
        ),
    )
    client_limits: Mapping[str, ClientLimit] = Field(
        {},
        title="Different limits for some clients",
        description=(
            "NAME=RUNNING/WAITING, separated by commas, such as @anonymous=2/20, @users=8/100, alice=16/400: for each "
            "anonymous client, for each user, and for the user alice. A class such as @survey=16/400/200G applies to "
            "the users that skyhouse user limits assigns to it; the third value, in M, G or T, is the disk space for "
            "jobs."
        ),
    )
    user_reserve: int = Field(
        50,
        ge=0,
        le=100,
        title="Share of the limits of all clients that is reserved for users, in percent",
        description=(
            "All anonymous clients together can use at most the rest of SKYHOUSE_SHARE_DISK, SKYHOUSE_SPOOL_DISK, "
            "SKYHOUSE_WAITING_QUERIES, SKYHOUSE_WAITING_JOBS and SKYHOUSE_PENDING_JOBS, so that they cannot exclude "
            "users. The reserve applies only if users or token issuers exist when the service starts."
        ),
    )
    query_memory: int = Field(
        4 << 30,
        ge=0,
        title="Maximum memory of one query in the engine, in bytes",
        description=(
            "Joins, groups and sorts continue on disk before they reach this limit, which takes up to three times as "
            "long, and matches in jobs run in pieces of the sky that fit. A query that reaches the limit nevertheless "
            "runs again with the least memory, and a job runs again in smaller pieces. A query that still needs more, "
            "for example for all values of a group at once, fails with an error. 0: the engine's own limit."
        ),
    )
    spool_memory: int = Field(
        256 << 20,
        ge=0,
        title="Maximum memory of the spool, in bytes",
        description=(
            "All results in transfer to clients share it. One result uses at most a sixteenth of it, and continues on "
            "disk."
        ),
    )
    spool_disk: int = Field(
        16 << 30,
        ge=0,
        title="Maximum disk space of the spool, in bytes",
        description=(
            "All results in transfer to clients share it. When it is full, a result that needs more space ends with "
            "an error. Results in FITS, text and VOTable's BINARY start with data that depends on all rows, so they "
            "wait in additional space of the same size. The files of requests, and rows whose checksum a job "
            "computes, also use that space."
        ),
    )
    client_spool_disk: int = Field(
        4 << 30,
        ge=0,
        title="Maximum disk space of one client in the spool, in bytes",
        description=(
            "A result that needs more space because the client reads slowly ends with an error. The files of a "
            "client's requests have the same limit, or the size of the largest possible file if that is larger; "
            "beyond it, the client gets 503."
        ),
    )
    spool_path: Path = Field(
        Path(tempfile.gettempdir()),
        title="Directory of the spool",
        description=(
            "The files in it have no names and disappear with the process. By default the system's temporary directory."
        ),
    )

    @field_validator("client_limits", mode="before")
    @classmethod
    def _parse_client_limits(cls, value: Any) -> Any:
        return parse_client_limits(value) if isinstance(value, str) else value
