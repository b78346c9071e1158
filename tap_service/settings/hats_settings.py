"""Settings of HATS collections that are served."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field


class HatsSettings(BaseModel):
    hats_path: Path | None = Field(
        None,
        title="Directory of HATS files",
        description=(
            "Files of /hats are made when they are asked for and kept here. By default hats in the data directory; "
            "each machine may have its own."
        ),
    )
    hats_disk: int = Field(
        20 << 30,
        ge=0,
        title="Disk space of HATS files, in bytes",
        description="The files that nobody has asked for longest are deleted first. 0: no table is served at /hats.",
    )
    hats_files: int = Field(
        100_000,
        ge=1,
        title="HATS files that are kept",
        description="As above: beyond this number, too, the files that nobody has asked for longest are deleted.",
    )
    client_hats_selections_per_minute: int = Field(
        60,
        ge=0,
        title="Selections of columns and filters that one client may begin per minute",
        description=(
            "Counts the different columns and filters in the addresses of files that are not kept yet, for each user "
            "and each address (IPv6: network of 64 bits) without a login. All partitions with one selection, as LSDB "
            "reads a catalogue, count once, and whole files do not count. A minute's selections may come at once; a "
            "further one gets 429 with Retry-After. 0: no limit."
        ),
    )
