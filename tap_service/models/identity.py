"""Who asks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """A user that has proved to be one. ``name`` is unique: users of a token issuer are called ``issuer:name``.

    An administrator sees and ends everybody's jobs. Nobody's identity is None: an anonymous caller.
    """

    name: str
    admin: bool = False
