"""Settings of attached tables, whose files stay where they are."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field


class AttachSettings(BaseModel):
    attach_host: str = Field(
        "127.0.0.1",
        min_length=1,
        title="Address at which ClickHouse reads the files of attached tables",
        description=(
            "Each process of the service, and each worker, listens there on a free port. ClickHouse servers on other "
            "machines need the address of this machine in a network that users cannot reach. Anyone who can read "
            "ClickHouse's query log can read the files too."
        ),
    )
    attach_cache: Path | None = Field(
        None,
        title="Directory for parts of remote files",
        description=(
            "Keeps parts of the files of attached tables on other machines for later queries. Processes on one "
            "machine may share it. By default attached in the data directory."
        ),
    )
    attach_cache_bytes: int = Field(
        10 << 30,
        ge=0,
        title="Maximum size of the parts of remote files that are kept, in bytes",
        description="The least recently used parts are deleted. 0: no parts are kept, and each query reads them again.",
    )
