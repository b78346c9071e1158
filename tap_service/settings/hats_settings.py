"""Settings of HATS collections that are served."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field


class HatsSettings(BaseModel):
    hats_path: Path | None = Field(
        None,
        title="Directory of HATS files",
        description=(
            "Files of /hats are created on request and kept in this directory. By default hats in the data directory; "
            "each machine may have its own directory."
        ),
    )
    hats_disk: int = Field(
        20 << 30,
        ge=0,
        title="Maximum disk space of HATS files, in bytes",
        description="When it is full, the least recently requested files are deleted. 0: no table is served at /hats.",
    )
    hats_files: int = Field(
        100_000,
        ge=1,
        title="Maximum number of HATS files that are kept",
        description="Beyond this number, the least recently requested files are deleted.",
    )
    client_hats_selections_per_minute: int = Field(
        60,
        ge=0,
        title="Maximum number of new selections of columns and filters of one client per minute",
        description=(
            "Counts the different columns and filters in the addresses of files that are not kept yet, for each user, "
            "or for each address (IPv6: network of 64 bits) without a login. A selection counts once for all "
            "partitions that LSDB reads with it, and complete files do not count. A client may send all selections of "
            "a minute at once; further selections get 429 with Retry-After. 0: no limit."
        ),
    )
