"""Reactions of a process to SIGHUP, such as reopening its logs.

A process whose terminal was closed ends, as it would by default. The signal handler only writes to a pipe, and a thread
calls the callbacks: a callback in the handler could wait for a lock that the interrupted code holds.
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
    """Register a callback for SIGHUP.

    Callbacks are called on a thread, in the order of their registration. The error of a callback is logged, and does
    not prevent the calls of others.

    Parameters
    ----------
    callback : Callable[[], object]
        The callback.

    Returns
    -------
    Callable[[], None]
        Removes the callback.
    """
    with _lock:
        _callbacks.append(callback)

    def forget() -> None:
        with _lock:
            if callback in _callbacks:
                _callbacks.remove(callback)

    return forget


def catch_hangups() -> None:
    """Call the callbacks at each SIGHUP, which then does not end the process. Call this once, on the main thread."""
    had_terminal = _has_terminal()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    threading.Thread(target=_wait_for_hangups, args=(reading,), name="hangup", daemon=True).start()

    def handle(_number: int, _frame: object) -> None:
        if had_terminal and not _has_terminal():
            os.kill(os.getpid(), signal.SIGTERM)
            return
        try:
            os.write(writing, b"h")
        except BlockingIOError:  # the pipe is full of signals
            return

    signal.signal(signal.SIGHUP, handle)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


@contextmanager
def hangups_held_back() -> Iterator[None]:
    """Hold back SIGHUP in child processes that start in this context, until they call ``catch_hangups``."""
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
    """Call the callbacks, as at a SIGHUP."""
    with _lock:
        callbacks = tuple(_callbacks)
    for callback in callbacks:
        try:
            callback()
        except Exception as error:
            _log.error("a reaction to SIGHUP failed: %s", error, exc_info=error)
