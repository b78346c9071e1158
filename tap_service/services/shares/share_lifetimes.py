"""Deletes expired shares and their stored results."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from tap_service.models.share import Share, find_share_id
from tap_service.services.shares.share_files import drop_unread_files
from tap_service.storage.results.result_store import ResultStore
from tap_service.storage.share_store import NoSuchShare, ShareStore, ShareStoreUnavailable

_log = logging.getLogger("skyhouse")

_MAX_AT_ONCE = 1000


class ShareLifetimes:
    """Reads and deletes shares with their stored results and files."""

    def __init__(self, shares: ShareStore, results: ResultStore) -> None:
        self._shares = shares
        self._results = results

    def get_share(self, share_id: str) -> Share:
        """Return a share. Files that its query does not read are deleted from shares of earlier versions.

        Raises
        ------
        NoSuchShare, ShareStoreUnavailable
            There is no such share, or the store does not answer.
        """
        share = self._shares.get_share(share_id)
        if not share.files or share.provenance.uploads is not None:
            return share
        known = drop_unread_files(share)
        self._shares.replace_share(known)
        if unread := [file for file in share.files if file not in known.files]:
            names = ", ".join(file.name for file in unread)
            _log.warning("deleted uploads that the query of the share %s does not read: %s", share_id, names)
            self._delete_stored(tuple(file.key for file in unread))
        return known

    def delete_share(self, share_id: str) -> None:
        """Delete a share with its result and files.

        Parameters
        ----------
        share_id : str
            Its id.

        Raises
        ------
        NoSuchShare, ShareStoreUnavailable
            There is no such share, or the store does not answer.
        """
        share = self._shares.delete_share(share_id)
        self._delete_stored(share.stored_keys)

    def delete_due(self, at: datetime) -> None:
        """Delete shares that have expired, and expired results of other shares. An unavailable store is logged.

        Parameters
        ----------
        at : datetime
            The present instant.
        """
        try:
            for share in self._shares.list_due(at, _MAX_AT_ONCE):
                with suppress(NoSuchShare):
                    if share.expiry <= at:
                        self.delete_share(share.share_id)
                    else:
                        self._drop_result(share)
        except ShareStoreUnavailable as error:
            _log.warning("expired shares cannot be deleted now: %s", error)

    def has_owner(self, key: str) -> bool:
        """Return whether a share uses an entry of the result store.

        Parameters
        ----------
        key : str
            A key of the result store that belongs to a share.

        Raises
        ------
        ShareStoreUnavailable
            The store does not answer.
        """
        try:
            return key in self.get_share(find_share_id(key)).stored_keys
        except NoSuchShare:
            return False

    def _drop_result(self, share: Share) -> None:
        self._shares.replace_share(replace(share, result=None))
        if share.result is not None:
            self._delete_stored((share.result.key,))

    def _delete_stored(self, keys: tuple[str, ...]) -> None:
        """Delete entries of the result store; if it is unreachable, the next sweep deletes them."""
        try:
            for key in keys:
                self._results.delete_result(key)
        except OSError as error:
            _log.warning("the files of a share cannot be deleted yet: %s", error)
