"""Imports chDB without its signal handlers.

chDB 4.4 catches the signals of a crash in the whole process, and leaves the crashed thread asleep: the process neither
works nor ends. Without its handlers the process dies of the signal, and Python's fault handler can write the stacks.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType

#: what chDB catches; SIGTSTP, Ctrl-Z in a terminal, is a debugging aid there
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

#: more than a ``struct sigaction`` has on any system
_MAX_ACTION_BYTES = 512

_LIBC = ctypes.CDLL(None)


@cache
def load_chdb() -> ModuleType:
    """Import chDB, which takes 0.4 s: only where the engine runs in this process."""
    with _signal_actions_kept():  # the import opens an engine, and with it the handlers
        import chdb
        from chdb import _chdb

        _chdb.set_signal_handlers_enabled(0)  # type: ignore[attr-defined]  # missing in its stubs
    return chdb


@contextmanager
def _signal_actions_kept() -> Iterator[None]:
    """Give each signal the action again that it had before; Python knows only handlers of its own."""
    actions = {int(number): ctypes.create_string_buffer(_MAX_ACTION_BYTES) for number in _CAUGHT_SIGNALS}
    for number, action in actions.items():
        _LIBC.sigaction(number, None, action)
    try:
        yield
    finally:
        for number, action in actions.items():
            _LIBC.sigaction(number, action, None)
