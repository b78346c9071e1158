"""A reporter for tests that keeps what a command reports."""

from __future__ import annotations

from loaders.load_error import LoadCancelled


class Recorder:
    """Keeps all reports; after ``stop_after`` calls of ``check`` the user stops the command."""

    def __init__(self, stop_after: int = 1_000_000) -> None:
        self.lines: list[str] = []
        self.messages: list[str] = []
        #: lines and messages in their order
        self.reports: list[str] = []
        self.fractions: list[float] = []
        self._left = stop_after

    def output(self, text: str) -> None:
        self.lines.append(text)
        self.reports.append(text)

    def message(self, text: str) -> None:
        self.messages.append(text)
        self.reports.append(text)

    def progress(self, rows: int, fraction: float) -> None:
        self.fractions.append(fraction)

    def check(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise LoadCancelled
