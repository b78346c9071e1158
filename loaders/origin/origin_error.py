"""The errors of origins."""

from __future__ import annotations

from loaders.load_error import LoadError


class OriginError(LoadError):
    """The origin cannot be used; the message has its address and says what to do."""


class OriginMissing(OriginError):
    """The origin has no such resource."""


class OriginUnavailable(OriginError):
    """The origin does not answer, or its answer is interrupted; another attempt may succeed.

    Parameters
    ----------
    message : str
        The message for the user.
    retry_seconds : float, optional
        The pause that the origin asks for; None if it asks for none.
    """

    def __init__(self, message: str, retry_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


class AmbiguousTable(OriginError):
    """Several tables match a name."""
