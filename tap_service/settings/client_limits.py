"""Limits of single users and of classes of clients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tap_service.settings.setting_values import split_list

#: classes of clients; names of users do not begin with @
ANONYMOUS, USERS = "@anonymous", "@users"

_LIMIT = re.compile(r"(.+)=([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class ClientLimit:
    """How many requests of one client run at once in a lane, and how many wait in it."""

    running: int
    waiting: int

    def divide_by(self, processes: int) -> ClientLimit:
        """Return the part of one process, rounded up."""
        return ClientLimit(-(-self.running // processes), -(-self.waiting // processes))


def parse_client_limits(text: str) -> Mapping[str, ClientLimit]:
    """Read limits such as ``@anonymous=2/20, alice=16/400``. Raise ValueError."""
    limits = {}
    for part in split_list(text):
        match = _LIMIT.fullmatch(part)
        if match is None or int(match[2]) < 1:
            raise ValueError(f"{part!r} is not NAME=RUNNING/WAITING, such as alice=16/400, with at least one running")
        name = match[1].strip()
        if name.startswith("@") and name not in (ANONYMOUS, USERS):
            raise ValueError(f"{name} is no class of clients: {ANONYMOUS} and {USERS} are")
        limits[name] = ClientLimit(int(match[2]), int(match[3]))
    return limits
