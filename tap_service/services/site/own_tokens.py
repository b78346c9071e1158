"""Tokens that users create and revoke themselves."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from tap_service.models.identity import Identity
from tap_service.models.timestamps import format_instant
from tap_service.service_errors import Forbidden, NotFound, ParameterError, ServiceUnavailable, TooManyTokens
from tap_service.storage.accounts import Accounts, AccountsUnavailable, Token

_log = logging.getLogger("skyhouse")

DEFAULT_DAYS = 90
#: tokens that operators create may be valid for longer
MAX_DAYS = 366
_MAX_TOKENS = 50
_MAX_LABEL = 100
_DAY_SECONDS = 86400.0


class OwnTokens:
    """The tokens of users. Methods raise Forbidden for users of token issuers.

    Parameters
    ----------
    accounts : Accounts or None
        The file of users, if there is one.
    """

    def __init__(self, accounts: Accounts | None) -> None:
        self._accounts = accounts

    def list_tokens(self, user: Identity) -> list[dict[str, Any]]:
        """Return the valid tokens of a user as JSON: id, label and expiry, without their values."""
        return [_describe_token(token) for token in self._require_accounts(user).list_tokens(user.name)]

    def create_token(self, user: Identity, label: str, days: float, *, is_capped: bool) -> dict[str, Any]:
        """Create a token.

        Parameters
        ----------
        user : Identity
            The user. The new token cannot be valid for longer than the credentials of the request.
        label : str
            The purpose of the token, for lists.
        days : float
            The lifetime of the token.
        is_capped : bool
            Whether to shorten a longer lifetime to the lifetime of the credentials; otherwise it is refused.

        Returns
        -------
        dict
            The token as JSON with its value, which is stored nowhere.

        Raises
        ------
        ParameterError, Forbidden, TooManyTokens
            The label, the lifetime or the number of the user's tokens is not allowed.
        """
        accounts = self._require_accounts(user)
        if not 0 < len(label) <= _MAX_LABEL or not label.isprintable():
            raise ParameterError(f"label, the purpose of the token, must have 1 to {_MAX_LABEL} printable characters")
        left = (user.valid_until - time.time()) / _DAY_SECONDS
        if days > left and not is_capped:
            raise Forbidden(
                f"your token is valid for only {left:.2g} days, and a token that it creates cannot be valid for "
                "longer: give fewer days, or sign in with your password"
            )
        if len(accounts.list_tokens(user.name)) >= _MAX_TOKENS:
            raise TooManyTokens(f"you have {_MAX_TOKENS} tokens, the maximum: revoke one that you do not need")
        with _translate_errors():
            value = accounts.add_token(user.name, label, days, latest=user.valid_until)
        [made] = [token for token in accounts.list_tokens(user.name) if token.matches(value)]
        return {**_describe_token(made), "token": value}

    def revoke_token(self, user: Identity, token_id: str) -> None:
        """Revoke a token of a user, which may be the token of this request.

        Parameters
        ----------
        user : Identity
            The user.
        token_id : str
            The ``Token.token_id``.

        Raises
        ------
        NotFound
            The user has no such token.
        ServiceUnavailable
            The file of users cannot be written now.
        """
        with _translate_errors():
            is_revoked = self._require_accounts(user).revoke_token(user.name, token_id)
        if not is_revoked:
            raise NotFound(f"you have no token {token_id[:60]!r}; GET /tap/tokens lists them")

    def list_users(self) -> list[dict[str, Any]]:
        """Return all local users as JSON, with their groups and tokens, for administrators."""
        if self._accounts is None:
            return []
        groups = self._accounts.list_groups()
        return [
            {
                "user": account.name,
                "admin": account.admin,
                "groups": [group for group, members in groups.items() if account.name in members],
                "tokens": [_describe_token(token) for token in self._accounts.list_tokens(account.name)],
            }
            for account in self._accounts.list_accounts()
        ]

    def _require_accounts(self, user: Identity) -> Accounts:
        if self._accounts is None or ":" in user.name:
            raise Forbidden("your tokens come from the institute that signed you in: create and revoke them there")
        return self._accounts


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except AccountsUnavailable as error:
        _log.error("%s", error)
        raise ServiceUnavailable("tokens cannot be changed now. Try again later") from error


def _describe_token(token: Token) -> dict[str, Any]:
    expires = None if token.expires is None else format_instant(datetime.fromtimestamp(token.expires, UTC))
    return {"id": token.token_id, "label": token.label, "expires": expires}
