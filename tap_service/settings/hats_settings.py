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
