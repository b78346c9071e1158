"""Imports chDB without its signal handlers.

chDB 4.4 catches crash signals in the whole process and leaves the crashed thread asleep, so that the process neither
works nor ends. Without its handlers the process dies of the signal, and Python's faulthandler can write the stacks.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType

#: the signals that chDB catches; SIGTSTP, Ctrl-Z in a terminal, helps to debug chDB
_CAUGHT_SIGNALS = (
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGSEGV,
    signal.SIGSYS,
    signal.SIGTRAP,
    signal.SIGTSTP,
)

#: more bytes than a ``struct sigaction`` has on any system
_MAX_ACTION_BYTES = 512

_LIBC = ctypes.CDLL(None)


@cache
def load_chdb() -> ModuleType:
    """Import chDB. This takes 0.4 s, so call it only where the engine runs in this process."""
    with _signal_actions_kept():  # the import opens an engine, and with it the handlers
        import chdb
        from chdb import _chdb

        _chdb.set_signal_handlers_enabled(0)  # type: ignore[attr-defined]  # missing in its stubs
    return chdb


@contextmanager
def _signal_actions_kept() -> Iterator[None]:
    """Restore the action of each signal at the end; Python's ``signal`` knows only handlers in Python."""
    actions = {int(number): ctypes.create_string_buffer(_MAX_ACTION_BYTES) for number in _CAUGHT_SIGNALS}
    for number, action in actions.items():
        _LIBC.sigaction(number, None, action)
    try:
        yield
    finally:
        for number, action in actions.items():
            _LIBC.sigaction(number, action, None)
