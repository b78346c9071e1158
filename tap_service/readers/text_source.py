"""The common attributes of readers of text."""

from __future__ import annotations

from pathlib import Path

from tap_service.models.read_options import ReadOptions


class TextSource:
    """A table of text: its rows are lines, and their number is unknown until the file has been read."""

    unit = "line"
    nan_is_null = False
    rows: int | None = None

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.options = options
        self.unusable: dict[str, str] = {}
