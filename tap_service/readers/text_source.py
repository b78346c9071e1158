"""What the readers of texts share."""

from __future__ import annotations

from pathlib import Path

from tap_service.models.read_options import ReadOptions


class TextSource:
    """A table in a text, whose rows are lines and counted when they are read."""

    unit = "line"
    nan_is_null = False
    rows: int | None = None

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.options = options
        self.unusable: dict[str, str] = {}
