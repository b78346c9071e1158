"""How commands end: exit codes and messages, at both ends of the control socket."""

from __future__ import annotations

from tap_service.storage.engine.engine import EngineUnavailable, StorageFull
from tap_service.storage.engine.engine_errors import shorten_message

EXIT_FAILED = 1

STOPPED = "stopped: start the same {command} again to continue it"


def explain_error(error: Exception, disk: str = "") -> str:
    """Return the message of an error for the command line.

    Parameters
    ----------
    error : Exception
        The error that ended the command.
    disk : str, optional
        Names the full disk, such as ' in /data'; '' if it is unknown.

    Returns
    -------
    str
        The message; of an unavailable engine, with its details, shortened.
    """
    if isinstance(error, StorageFull):
        return f"no space left{disk} ({error}): free some space"
    return shorten_message(error.detail) if isinstance(error, EngineUnavailable) else str(error)
