"""Reports to a terminal or a plain log."""

from __future__ import annotations

import sys
import time
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:  # most commands print only their result
    from rich.console import Console
    from rich.progress import Progress, TaskID

_LOG_INTERVAL_SECONDS = 5.0


class ConsoleReporter:
    """Results on stdout, remarks and progress on stderr: a bar on a terminal, a line every few seconds elsewhere."""

    def __init__(self) -> None:
        self._task: TaskID | None = None
        self._began = time.monotonic()
        self._last_line = self._began

    @cached_property
    def _console(self) -> Console:
        from rich.console import Console

        return Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)  # the unit h:m:s contains :m:

    @cached_property
    def _bar(self) -> Progress:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        return Progress(
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rows]:,} rows, {task.fields[speed]:,.0f} rows/s, time left"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end_bar()

    def output(self, text: str) -> None:
        self._end_bar()
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def message(self, text: str) -> None:
        self._console.print(text, markup=False)

    def progress(self, rows: int, fraction: float) -> None:
        now = time.monotonic()
        seconds = max(now - self._began, 1e-3)
        if self._console.is_terminal:
            if self._task is None:
                self._task = self._bar.add_task("", total=1.0, rows=0, speed=0.0)
                self._bar.start()
            self._bar.update(self._task, completed=fraction, rows=rows, speed=rows / seconds)
        elif now - self._last_line >= _LOG_INTERVAL_SECONDS:
            self._last_line = now
            left = f", about {seconds * (1 - fraction) / fraction:.0f} s left" if fraction else ""
            self.message(f"{fraction:.0%}: {rows:,} rows, {rows / seconds:,.0f} rows/s{left}")

    def _end_bar(self) -> None:
        if self._task is not None:
            self._bar.stop()

    def check(self) -> None:
        """Do nothing: a signal stops a local command."""
