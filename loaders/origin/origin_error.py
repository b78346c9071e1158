"""What can go wrong with an origin."""

from __future__ import annotations

from loaders.load_error import LoadError


class OriginError(LoadError):
    """The origin cannot be used; the message names its address and the way out."""


class OriginMissing(OriginError):
    """The origin has no such resource."""


class OriginUnavailable(OriginError):
    """The origin does not answer, or breaks off; another attempt may succeed.

    ``retry_seconds``: the pause that it asks for; None if it names none.
    """

    def __init__(self, message: str, retry_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


class AmbiguousTable(OriginError):
    """The name of a table may mean several."""
