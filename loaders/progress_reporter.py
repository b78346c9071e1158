"""What a running command reports to its user."""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    def output(self, text: str) -> None:
        """Report a line of the command's result."""

    def message(self, text: str) -> None:
        """Report a remark, such as a warning."""

    def progress(self, rows: int, fraction: float) -> None:
        """Report the rows done in this run, and the fraction of the input that is done (0 to 1)."""

    def check(self) -> None:
        """Raise ``LoadCancelled`` if the user has stopped the command."""
