"""Options that several commands take."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def default_data() -> Path:
    """Where data goes if nobody says: the user's data directory (XDG base directories)."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "skyhouse"


Data = Annotated[
    Path,
    typer.Option(
        "--data",
        envvar="SKYHOUSE_DATA",
        help="Directory of the data.",
        default_factory=default_data,
        show_default="~/.local/share/skyhouse",
    ),
]
