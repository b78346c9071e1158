"""The groups of users: from the file of users, and from the tokens of issuers.

Groups are found by the name of a user, so that a waiting job starts with the rights that its owner has at that time.
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
    """The groups of users. Thread-safe.

    Parameters
    ----------
    accounts : Accounts or None
        The file of users, if there is one.
    state : SiteState
        Keeps the groups in the last token of each user.
    """

    def __init__(self, accounts: Accounts | None, state: SiteState) -> None:
        self.accounts = accounts
        self._state = state
        self._lock = threading.Lock()
        self._noted: OrderedDict[str, frozenset[str]] = OrderedDict()

    def find_groups(self, owner: str | None) -> frozenset[str]:
        """Return the groups of a client now: in the file of users, and in the last token of a token issuer.

        Parameters
        ----------
        owner : str | None
            The user; an anonymous client, None, has no groups.

        Raises
        ------
        ServiceUnavailable
            The stored groups of a token issuer's user cannot be read.
        """
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
        """Store the groups in the token of a user, if they have changed since the last request.

        Parameters
        ----------
        identity : Identity
            The user of a request; without ``claimed`` nothing is stored.

        Raises
        ------
        ServiceUnavailable
            The groups cannot be stored.
        """
        if identity.claimed is None or self._noted.get(identity.name) == identity.claimed:
            return
        await asyncio.to_thread(self._write_claims, identity.name, identity.claimed)

    def close(self) -> None:
        """Close the file of users."""
        if self.accounts is not None:
            self.accounts.close()

    def _write_claims(self, name: str, claimed: frozenset[str]) -> None:
        try:
            if frozenset(self._state.get(StateKind.CLAIMS, name) or ()) != claimed:
                self._state.put(StateKind.CLAIMS, name, sorted(claimed))
        except SiteStateUnavailable as error:
            raise ServiceUnavailable("your groups cannot be stored now. Try again later") from error
        with self._lock:
            self._noted[name] = claimed
            while len(self._noted) > _MAX_NOTED:
                self._noted.popitem(last=False)
