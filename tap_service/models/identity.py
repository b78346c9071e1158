"""The identity of a caller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """An authenticated user; None stands for an anonymous caller.

    ``name`` is unique: users of a token issuer are called ``issuer:name``. An ``admin`` sees and ends all jobs.
    """

    name: str
    admin: bool = False
