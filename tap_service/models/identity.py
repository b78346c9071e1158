"""The identity of a user."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Identity:
    """A signed-in user. In types, None stands for an anonymous client.

    Attributes
    ----------
    name : str
        The unique name; users of a token issuer are called ``issuer:name``.
    admin : bool
        Whether the user is an administrator, who sees and ends all jobs.
    claimed : frozenset of str or None
        The groups in the token of an issuer, as ``issuer:group``; None for a local user.
    valid_until : float
        The Unix time until which the credentials of the request are valid, in seconds.
    """

    name: str
    admin: bool = False
    claimed: frozenset[str] | None = field(default=None, compare=False)
    valid_until: float = field(default=math.inf, compare=False)
