"""Limits of single users and of classes of clients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tap_service.settings.setting_values import split_list

#: classes of clients; names of users do not begin with @. Other classes have the users that the operator assigns.
ANONYMOUS, USERS = "@anonymous", "@users"
CLASS = re.compile(r"@[A-Za-z0-9][A-Za-z0-9_-]{0,49}")

_LIMIT = re.compile(r"(.+)=([0-9]{1,9})/([0-9]{1,9})(?:/([0-9]{1,9})([MGT]))?")
_UNITS = {"M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True, slots=True)
class ClientLimit:
    """How many requests of one client run at once in a lane, and how many wait in it.

    Attributes
    ----------
    running, waiting : int
        The maximum numbers of requests.
    disk : int or None
        The limit for the client's jobs in bytes; 0 for no limit, None for the default.
    """

    running: int
    waiting: int
    disk: int | None = None

    def __str__(self) -> str:
        return f"{self.running}/{self.waiting}"

    def divide_by(self, processes: int) -> ClientLimit:
        """Return the limit in one of several processes.

        Parameters
        ----------
        processes : int
            The number of processes.

        Returns
        -------
        ClientLimit
            The part of one process, rounded up. Processes share the disk, so its limit stays the same.
        """
        return ClientLimit(-(-self.running // processes), -(-self.waiting // processes), self.disk)


def find_open_part(limit: int, reserve: int) -> int:
    """Return the part of a limit that anonymous clients may take together.

    Parameters
    ----------
    limit : int
        The limit of all clients, in any unit.
    reserve : int
        The percentage that is reserved for users, from 0 to 100.

    Returns
    -------
    int
        The part, in the unit of ``limit``.
    """
    return limit - limit * reserve // 100


def parse_client_limits(text: str) -> Mapping[str, ClientLimit]:
    """Read limits such as ``@anonymous=2/20, @survey=16/400/200G``.

    Parameters
    ----------
    text : str
        ``NAME=RUNNING/WAITING`` or ``NAME=RUNNING/WAITING/DISK``, separated by commas. Disk is in M, G or T: 2**20,
        2**30 or 2**40 bytes.

    Returns
    -------
    Mapping[str, ClientLimit]
        The limits by the names of users, and of classes with their @.

    Raises
    ------
    ValueError
        A part has another form, no request may run, or the name of a class has other characters.
    """
    limits = {}
    for part in split_list(text):
        match = _LIMIT.fullmatch(part)
        if match is None or int(match[2]) < 1:
            raise ValueError(
                f"{part!r} is not NAME=RUNNING/WAITING or NAME=RUNNING/WAITING/DISK, such as alice=16/400 or "
                "@survey=16/400/200G, with at least one running and disk in M, G or T"
            )
        name = match[1].strip()
        if name.startswith("@") and not CLASS.fullmatch(name):
            raise ValueError(f"{name} is no name of a class: use letters, digits, _ and - after @")
        disk = int(match[4]) * _UNITS[match[5]] if match[4] else None
        limits[name] = ClientLimit(int(match[2]), int(match[3]), disk)
    return limits
