"""Settings of HATS collections that are served."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field


class HatsSettings(BaseModel):
    hats_path: Path | None = Field(
        None,
        title="Directory of HATS files",
        description=(
            "Files of /hats are created on request and kept here. By default hats in the data directory; each machine "
            "may have its own."
        ),
    )
    hats_disk: int = Field(
        20 << 30,
        ge=0,
        title="Disk space of HATS files, in bytes",
        description="The least recently requested files are deleted first. 0: no table is served at /hats.",
    )
    hats_files: int = Field(
        100_000,
        ge=1,
        title="HATS files that are kept",
        description="Beyond this number, the least recently requested files are deleted too.",
    )
    client_hats_selections_per_minute: int = Field(
        60,
        ge=0,
        title="New selections of columns and filters of one client per minute",
        description=(
            "Counts the different columns and filters in the addresses of files that are not kept yet, for each user "
            "and each address (IPv6: network of 64 bits) without a login. All partitions with one selection, as LSDB "
            "reads a catalogue, count once, and complete files do not count. A client may send a minute's selections "
            "at once; further selections get 429 with Retry-After. 0: no limit."
        ),
    )
