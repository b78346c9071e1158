"""SIGHUP: what a process does when its operator sends it, such as opening its logs anew.

A process whose terminal was closed ends, as it would without this. The handler only writes to a pipe, and a thread
makes the calls: a call in the handler could wait for a lock that the interrupted code holds.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_log = logging.getLogger("skyhouse")

_lock = threading.Lock()
_callbacks: list[Callable[[], object]] = []


def on_hangup(callback: Callable[[], object]) -> Callable[[], None]:
    """Have ``callback`` called, on a thread, at each SIGHUP; return a function that ends this.

    Callbacks are called in the order of their registration. An error of one is logged, and the others are called.
    """
    with _lock:
        _callbacks.append(callback)

    def forget() -> None:
        with _lock:
            if callback in _callbacks:
                _callbacks.remove(callback)

    return forget


def catch_hangups() -> None:
    """Make the callbacks at SIGHUP from now on, which then does not end the process. Call once, on the main thread."""
    had_terminal = _has_terminal()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    threading.Thread(target=_wait_for_hangups, args=(reading,), name="hangup", daemon=True).start()

    def note(_number: int, _frame: object) -> None:
        if had_terminal and not _has_terminal():
            os.kill(os.getpid(), signal.SIGTERM)
            return
        try:
            os.write(writing, b"h")
        except BlockingIOError:  # thousands wait already
            return

    signal.signal(signal.SIGHUP, note)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


@contextmanager
def hangups_held_back() -> Iterator[None]:
    """Start a child process that calls ``catch_hangups``: a SIGHUP that comes before waits until then."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


def _wait_for_hangups(reading: int) -> None:
    while os.read(reading, 4096):
        call_hangup()


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def call_hangup() -> None:
    """Make the calls."""
    with _lock:
        callbacks = tuple(_callbacks)
    for callback in callbacks:
        try:
            callback()
        except Exception as error:
            _log.error("a reaction to SIGHUP failed: %s", error, exc_info=error)
