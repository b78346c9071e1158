"""The progress of a mirror: a progress bar, and a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from loaders.mirror.disk_room import measure_folder
from loaders.pipeline.chunk_reader import Chunk
from loaders.progress_reporter import Reporter

_LINE_SECONDS = 10.0


class MirrorProgress:
    """The progress of ``total`` pieces, of which ``done`` pieces with ``rows`` rows were loaded before this run."""

    def __init__(self, reporter: Reporter, folder: Path, total: int, done: int, rows: int) -> None:
        self._reporter = reporter
        self._folder = folder
        self._total = total
        self._done = self._done_before = done
        self._rows = self._rows_before = rows
        self._began = self._last_line = time.monotonic()

    def scale(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Yield the chunks of a piece, with the fraction of all pieces instead of the fraction of the piece."""
        return (replace(chunk, fraction=(self._done + chunk.fraction) / self._total) for chunk in chunks)

    def add_piece(self, rows: int) -> None:
        self._done += 1
        self._rows += rows
        now = time.monotonic()
        if now - self._last_line >= _LINE_SECONDS or self._done == self._total:
            self._last_line = now
            self._reporter.message(self._describe(now - self._began))

    def _describe(self, seconds: float) -> str:
        rate = (self._rows - self._rows_before) / max(seconds, 1e-3)
        message = f"{self._done:,} of {self._total:,} files, {self._rows:,} rows, {rate:,.0f} rows/s"
        if self._done == self._total:
            return message
        left = seconds * (self._total - self._done) / (self._done - self._done_before)
        on_disk = measure_folder(self._folder) / 1e6
        return f"{message}, {describe_seconds(left)} left, {on_disk:,.0f} MB of files on the disk"


def describe_seconds(seconds: float) -> str:
    """Return a duration as text, in a suitable unit."""
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"about {seconds / size:,.0f} {unit}"
    return f"about {seconds:,.0f} s"
