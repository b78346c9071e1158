"""The groups of users by name: those of the file of users, and those that issuers' tokens name.

A user's rights follow the name, so that a job that waits is prepared with the rights that its owner has then.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict

from tap_service.models.identity import Identity
from tap_service.service_errors import ServiceUnavailable
from tap_service.storage.accounts import Accounts
from tap_service.storage.site_state import SiteState, SiteStateUnavailable, StateKind

_MAX_NOTED = 10_000


class UserGroups:
    """Thread-safe. ``accounts``: None without a file of users."""

    def __init__(self, accounts: Accounts | None, state: SiteState) -> None:
        self.accounts = accounts
        self._state = state
        self._lock = threading.Lock()
        self._noted: OrderedDict[str, frozenset[str]] = OrderedDict()

    def find_groups(self, owner: str | None) -> frozenset[str]:
        """Return the groups of a user, none for an anonymous client. Raises ServiceUnavailable."""
        if owner is None:
            return frozenset()
        local = self.accounts.find_groups(owner) if self.accounts is not None else frozenset()
        if ":" not in owner:
            return local
        try:
            return local | frozenset(self._state.get(StateKind.CLAIMS, owner) or ())
        except SiteStateUnavailable as error:
            raise ServiceUnavailable("your groups cannot be read now. Try again later") from error

    async def note_claims(self, identity: Identity) -> None:
        """Keep the groups that an issuer's token names, if they have changed. Raises ServiceUnavailable."""
        if identity.claimed is None or self._noted.get(identity.name) == identity.claimed:
            return
        await asyncio.to_thread(self._write_claims, identity.name, identity.claimed)

    def close(self) -> None:
        if self.accounts is not None:
            self.accounts.close()

    def _write_claims(self, name: str, claimed: frozenset[str]) -> None:
        try:
            if frozenset(self._state.get(StateKind.CLAIMS, name) or ()) != claimed:
                self._state.put(StateKind.CLAIMS, name, sorted(claimed))
        except SiteStateUnavailable as error:
            raise ServiceUnavailable("your groups cannot be noted now. Try again later") from error
        with self._lock:
            self._noted[name] = claimed
            while len(self._noted) > _MAX_NOTED:
                self._noted.popitem(last=False)
