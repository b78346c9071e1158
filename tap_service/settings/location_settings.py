"""Location settings: the data directory, the address to listen on, and the number of processes."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, Field


def default_data_path() -> Path:
    """Return the user's data directory (XDG base directories)."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "skyhouse"


class LocationSettings(BaseModel):
    data: Path = Field(
        default_factory=default_data_path,
        title="Data directory",
        description=(
            "Contains the tables of the embedded engine, the jobs and the users, unless other settings name other "
            "locations. The option --data of every command overrides it."
        ),
    )
    host: str = Field(
        "127.0.0.1",
        min_length=1,
        title="Address to listen on",
        description="Use 0.0.0.0 to listen on all networks. The option --host of skyhouse serve overrides it.",
    )
    port: int = Field(
        8000,
        ge=1,
        le=65535,
        title="Port to listen on",
        description="The option --port of skyhouse serve overrides it.",
    )
    processes: int = Field(
        1,
        ge=1,
        title="Number of processes that answer requests",
        description=(
            "More than one process requires ClickHouse servers and Redis. The option --processes of skyhouse serve "
            "overrides it."
        ),
    )
