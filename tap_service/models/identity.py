"""The identity of a caller."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Identity:
    """An authenticated user; None stands for an anonymous caller.

    ``name`` is unique: users of a token issuer are called ``issuer:name``. An ``admin`` sees and ends all jobs.
    ``claimed``: the groups that the issuer's token names, as ``issuer:group``; None for a local user.
    ``valid_until``: the Unix time until which the caller's credentials are valid.
    """

    name: str
    admin: bool = False
    claimed: frozenset[str] | None = field(default=None, compare=False)
    valid_until: float = field(default=math.inf, compare=False)
