"""Processes that serve on one listening socket; a killed process is replaced."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from tap_service.child_processes import end_with_parent
from tap_service.hangup import hangups_held_back, on_hangup

#: A process that does not end within this time is killed.
_ENDING_SECONDS = 30.0

#: A process that lived for less than this time is replaced only after it.
_REPLACING_SECONDS = 1.0

#: A fork would copy locks that threads hold.
_SPAWN = multiprocessing.get_context("spawn")


class ProcessGroup:
    """Processes that serve together. SIGHUP is passed on to them.

    Parameters
    ----------
    count : int
        Number of processes.
    target : callable
        Is called in each process, with its number and ``arguments``; returns the exit code.
    arguments : tuple of Any
        Further arguments of ``target``, which can be pickled.
    """

    def __init__(self, count: int, target: Callable[..., int], arguments: tuple[Any, ...]) -> None:
        self._call = target, arguments
        self._processes: dict[int, tuple[BaseProcess, float]] = {}
        self._count = count

    def run(self, on_replaced: Callable[[str], None]) -> int:
        """Run until a process ends by itself; then end the others.

        A process that a signal killed is replaced. An exception in the caller's thread, such as SystemExit in a signal
        handler, ends all processes too.

        Parameters
        ----------
        on_replaced : callable
            Is called for each process that is replaced.

        Returns
        -------
        int
            The exit code of the process that ended by itself.
        """
        forget = on_hangup(self._pass_on_hangup)
        try:
            for number in range(self._count):
                self._start_process(number)
            while True:
                wait([process.sentinel for process, _ in self._processes.values()])
                for number, (process, began) in tuple(self._processes.items()):
                    if process.exitcode is None:
                        continue
                    if process.exitcode >= 0:
                        return process.exitcode
                    on_replaced(f"process {process.pid} was killed by signal {-process.exitcode} and is replaced")
                    time.sleep(max(0.0, began + _REPLACING_SECONDS - time.monotonic()))
                    self._start_process(number)
        finally:
            forget()
            self._end_processes()

    def _start_process(self, number: int) -> None:
        target, arguments = self._call
        process = _SPAWN.Process(target=_run_target, args=(target, number, *arguments))
        with hangups_held_back():
            process.start()
        self._processes[number] = process, time.monotonic()

    def _pass_on_hangup(self) -> None:
        for process, _ in tuple(self._processes.values()):
            if process.is_alive() and process.pid is not None:
                os.kill(process.pid, signal.SIGHUP)

    def _end_processes(self) -> None:
        processes = [process for process, _ in self._processes.values()]
        for process in processes:
            process.terminate()
        until = time.monotonic() + _ENDING_SECONDS
        for process in processes:
            process.join(max(0.0, until - time.monotonic()))
            process.kill()


def _run_target(target: Callable[..., int], *arguments: Any) -> None:
    """Run the target, and end with the parent process, even if it is killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None and parent.pid is not None  # noqa: PT018, S101  a spawned process has one
    end_with_parent(parent.pid, signal.SIGTERM)
    raise SystemExit(target(*arguments))
