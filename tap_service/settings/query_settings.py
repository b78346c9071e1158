"""Settings of queries: limits, memory, and the spool of results."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pydantic import BaseModel, Field


class QuerySettings(BaseModel):
    sync_seconds: float = Field(
        10.0,
        gt=0,
        title="Time limit of a synchronous query, in seconds",
        description="Counts the time that the engine works on the query, without queueing and download.",
    )
    default_maxrec: int = Field(
        100_000,
        ge=1,
        title="Row limit of a request without MAXREC",
        description="A result that the limit cuts names the limit and how to get more rows.",
    )
    hard_maxrec: int = Field(
        10_000_000,
        ge=1,
        title="Highest row limit of a request",
        description="A higher MAXREC is reduced to this number.",
    )
    max_query_length: int = Field(
        500_000,
        ge=1000,
        le=1_000_000,
        title="Longest query, in characters",
        description="The service refuses a longer query without parsing it.",
    )
    translation_seconds: float = Field(
        1.0,
        gt=0,
        title="Time limit of the translation of a query, in seconds",
        description=(
            "Processor time, without the wait for the positions of named objects. Queries of more than 1000 characters "
            "are translated in other processes, which end at the limit."
        ),
    )
    concurrent_queries: int = Field(
        max(2, os.cpu_count() or 1),
        ge=1,
        title="Queries that run at the same time",
        description="Further queries wait. By default the number of processor cores, at least two.",
    )
    waiting_queries: int = Field(
        100,
        ge=0,
        title="Queries that may wait",
        description="When this many queries wait, the next client gets 503 with Retry-After.",
    )
    query_memory: int = Field(
        4 << 30,
        ge=0,
        title="Memory of one query in the engine, in bytes",
        description="A query that needs more memory fails with an error. 0: the engine's own limit.",
    )
    spool_memory: int = Field(
        256 << 20,
        ge=0,
        title="Memory of the spool, in bytes",
        description=(
            "All results on their way to clients share it; one result takes at most a sixteenth of it and continues "
            "on disk."
        ),
    )
    spool_disk: int = Field(
        16 << 30,
        ge=0,
        title="Disk space of the spool, in bytes",
        description=(
            "All results on their way to clients share it. When it is full, a result that needs more space ends with "
            "an error. Results in FITS, text and VOTable's BINARY start with data that depends on all rows; they wait "
            "in additional space of the same size, and so do the files of requests."
        ),
    )
    spool_path: Path = Field(
        Path(tempfile.gettempdir()),
        title="Directory of the spool",
        description=(
            "Its files have no names and disappear with the process. By default the system's temporary directory."
        ),
    )
