"""The file of blocked addresses: an address or network per line, with a reason after #. Changes take effect at once."""

from __future__ import annotations

import logging
import os
import time
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path

from tap_service.settings.setting_values import Network

_log = logging.getLogger("skyhouse")

_LOOK_SECONDS = 0.5
_MAX_REMEMBERED = 10_000


class BlockedError(Exception):
    """The file, or a line of it, cannot be used; the message has the file, the line and how to correct it."""


class BlockedNetworks:
    """The blocked addresses.

    Parameters
    ----------
    path : Path or None
        The file; None, or a file that does not exist, blocks nobody.

    Raises
    ------
    BlockedError
        The file cannot be used.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._looked_at = 0.0
        self._networks: tuple[Network, ...] = ()
        self._found: dict[str, bool] = {}
        if path is not None:
            self._seen = _read_stamp(path)
            self._networks = tuple(read_networks(path))

    def is_blocked(self, address: str) -> bool:
        """Return whether an address is blocked, by the file as it is now.

        Parameters
        ----------
        address : str
            An IPv4 or IPv6 address; another text is not blocked.
        """
        self._look_again()
        if address not in self._found:
            if len(self._found) >= _MAX_REMEMBERED:
                self._found.clear()
            self._found[address] = self._is_within(address)
        return self._found[address]

    def _look_again(self) -> None:
        now = time.monotonic()
        if self._path is None or now - self._looked_at < _LOOK_SECONDS:
            return
        self._looked_at = now
        stamp = _read_stamp(self._path)
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            self._networks = tuple(read_networks(self._path))
        except BlockedError as error:
            _log.error("%s. The previous addresses stay blocked", error)
        self._found.clear()

    def _is_within(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped:
            parsed = parsed.ipv4_mapped
        return any(parsed in network for network in self._networks)


def read_networks(path: Path) -> dict[Network, str]:
    """Read the file of blocked addresses.

    Returns
    -------
    dict of Network to str
        The networks with their reasons; empty if the file does not exist.

    Raises
    ------
    BlockedError
        The file, or a line of it, cannot be used.
    """
    found: dict[Network, str] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return found
    except (OSError, UnicodeDecodeError) as error:
        raise BlockedError(f"the file of blocked addresses {path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        text, _, reason = line.partition("#")
        if text.strip():
            try:
                found[ip_network(text.strip(), strict=False)] = reason.strip()
            except ValueError as error:
                raise BlockedError(f"{path}, line {number}: {error}; write 192.0.2.7 or 2001:db8::/64") from error
    return found


def write_networks(path: Path, networks: dict[Network, str]) -> None:
    """Replace the file of blocked addresses in one step.

    Parameters
    ----------
    path : Path
        The file.
    networks : dict of Network to str
        The networks with their reasons on one line, '' for none. Comments of the former file are lost.

    Raises
    ------
    OSError
        The file cannot be written; it is unchanged.
    """
    part = path.with_name(f"{path.name}.part-{os.getpid()}")
    lines = [f"{network}  # {reason}" if reason else str(network) for network, reason in networks.items()]
    part.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    part.replace(path)


def _read_stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
