"""Identifies users by HTTP Basic and Bearer credentials.

Bearer tokens are local tokens or, if the operator names issuers, JSON Web Tokens (RFC 7519). The latter are verified
with the issuer's public keys in a file, without a request to the issuer.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard

import jwt
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from tap_service.hangup import on_hangup
from tap_service.models.client import find_network
from tap_service.models.identity import Identity
from tap_service.service_errors import TooManyPasswords, Unauthorized
from tap_service.services.bounded_thread_pool import BoundedThreadPool
from tap_service.services.site.login_pauses import LoginPauses
from tap_service.storage.accounts import MAX_NAME, Accounts

#: seconds for which a correct password is not hashed again, unless the file of users changes
_REMEMBERED_SECONDS = 60.0
_MAX_REMEMBERED = 1000
#: interval at which the login methods, which each response lists, are read from the file of users, in seconds
_METHODS_SECONDS = 1.0
#: maximum number of passwords that wait for the hash, which is slow by design: of all clients, and of one address
_MAX_WAITING_PASSWORDS = 50
_MAX_CLIENT_PASSWORDS = 20
#: only algorithms with public keys: a reader of a shared secret could forge tokens
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_MAX_TOKEN_LENGTH = 16_384
#: maximum number of groups in a token, and maximum lengths of the names of a group and of a user
_MAX_GROUPS, _MAX_GROUP_LENGTH, _MAX_USER_LENGTH = 1000, 200, 200


@dataclass(frozen=True, slots=True)
class LoginMethod:
    """A login method: its standard id (IVOA SSO 2.0, section 3) and its challenge (RFC 9110, section 11)."""

    standard_id: str
    challenge: str


BASIC = LoginMethod("ivo://ivoa.net/sso#BasicAA", 'Basic realm="Skyhouse", charset="UTF-8"')
BEARER = LoginMethod("ivo://ivoa.net/sso#OAuth", 'Bearer realm="Skyhouse"')


class Issuer(BaseModel):
    """An entry of the file of token issuers.

    Attributes
    ----------
    name : str
        The prefix of the names of its users and groups.
    issuer, audience : str
        The required claims ``iss`` and ``aud``.
    keys : Path
        A file with a JSON Web Key Set (RFC 7517), relative to the file of issuers.
    user_claim, groups_claim : str
        The claims with the name of the user, and with the groups; '' for no groups.
    admins : tuple of str
        The users who are administrators.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    issuer: str
    audience: str
    keys: Path
    user_claim: str = "sub"
    admins: tuple[str, ...] = ()
    groups_claim: str = ""


class IssuersError(Exception):
    """The file of token issuers cannot be used; the message has the reason."""


@dataclass(frozen=True, slots=True)
class _TrustedIssuer:
    entry: Issuer
    keys: jwt.PyJWKSet

    def verify_token(self, token: str) -> Identity | None:
        """Return the user of a token of this issuer, or None if it is invalid."""
        try:
            key = self._find_key(jwt.get_unverified_header(token).get("kid"))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                audience=self.entry.audience,
                issuer=self.entry.issuer,
                options={"require": ["exp", "iss", "aud", self.entry.user_claim]},
            )
        except (jwt.PyJWTError, LookupError):
            return None
        user = claims[self.entry.user_claim]
        if not _is_name(user, _MAX_USER_LENGTH):
            return None
        return Identity(f"{self.entry.name}:{user}", user in self.entry.admins, self._read_groups(claims))

    def _read_groups(self, claims: dict[str, Any]) -> frozenset[str]:
        """Return the groups in a token, with the name of the issuer as their prefix."""
        named = claims.get(self.entry.groups_claim, ()) if self.entry.groups_claim else ()
        named = (named,) if isinstance(named, str) else named
        if not isinstance(named, list | tuple):
            return frozenset()
        groups = [each for each in named if _is_name(each, _MAX_GROUP_LENGTH)]
        return frozenset(f"{self.entry.name}:{group}" for group in groups[:_MAX_GROUPS])

    def _find_key(self, ident: object) -> jwt.PyJWK:
        if ident is None and len(self.keys.keys) == 1:
            return self.keys.keys[0]
        return self.keys[str(ident)]


def _is_name(claim: object, max_length: int) -> TypeGuard[str]:
    """Return whether a claim is valid as the name of a user or group, which logs and terminals show unescaped."""
    return isinstance(claim, str) and 0 < len(claim) <= max_length and claim.isprintable()


def read_issuers(path: Path) -> tuple[_TrustedIssuer, ...]:
    """Read the token issuers from a YAML file.

    Raises
    ------
    IssuersError
        The file, or the keys of an issuer, cannot be used.
    """
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8")) or ()
        issuers = [_read_keys(Issuer.model_validate(entry), path.parent) for entry in entries]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise IssuersError(f"{path}: {where}: {first['msg']}") from error
    except (OSError, ValueError, TypeError, yaml.YAMLError, jwt.PyJWTError) as error:
        raise IssuersError(f"{path} cannot be used: {error}") from error
    names = [issuer.entry.name for issuer in issuers]
    is_valid = all(name and ":" not in name for name in names)
    if not is_valid or len(set(names)) != len(names):
        raise IssuersError(f"{path}: each issuer needs a unique name without a colon")
    return tuple(issuers)


def _read_keys(entry: Issuer, folder: Path) -> _TrustedIssuer:
    keys = json.loads((folder / entry.keys).read_text("utf-8"))
    return _TrustedIssuer(entry, jwt.PyJWKSet.from_dict(keys))


class Authenticator:
    """Identifies the users of requests.

    Parameters
    ----------
    accounts : Accounts or None
        The file of users, if there is one.
    issuers : Sequence
        The token issuers, as ``read_issuers`` returns them.
    anonymous : bool
        Whether anonymous clients are admitted.
    """

    def __init__(self, accounts: Accounts | None, issuers: Sequence[_TrustedIssuer], *, anonymous: bool) -> None:
        self.anonymous = anonymous
        #: called with each user whose token contains groups
        self.on_claims: Callable[[Identity], Awaitable[None]] | None = None
        self._accounts = accounts
        self._issuers = issuers
        self._forget_hangup: Callable[[], None] = lambda: None
        self._passwords = BoundedThreadPool("password", 1, _MAX_WAITING_PASSWORDS)
        self._waiting: Counter[str] = Counter()
        self._pauses = LoginPauses()
        self._remembered: dict[bytes, tuple[Identity, float]] = {}
        self._version = accounts.version if accounts else 0
        self._methods: tuple[LoginMethod, ...] = ()
        self._methods_until = 0.0

    @property
    def login_methods(self) -> tuple[LoginMethod, ...]:
        """The methods by which clients can log in: passwords and tokens of local users, tokens of issuers."""
        now = time.monotonic()
        if now >= self._methods_until:
            has_users = self._accounts is not None and self._accounts.has_users
            self._methods = (BASIC, BEARER) if has_users else (BEARER,) if self._issuers else ()
            self._methods_until = now + _METHODS_SECONDS
        return self._methods

    def check_admission(self, user: Identity | None) -> None:
        """Check that a client may use the service.

        Parameters
        ----------
        user : Identity or None
            The user; None for an anonymous client.

        Raises
        ------
        Unauthorized
            The client is anonymous, and the service admits only users.
        """
        if user is None and not self.anonymous:
            raise Unauthorized("only users may use this service: give a name and password, or a token")

    async def identify(self, authorization: Sequence[str], client: str = "") -> Identity | None:
        """Identify the user of a request.

        Parameters
        ----------
        authorization : Sequence[str]
            The values of the Authorization headers.
        client : str
            The address of the client.

        Returns
        -------
        Identity or None
            The user; None without a header, for an anonymous client.

        Raises
        ------
        Unauthorized
            The credentials are wrong.
        TooManyPasswords
            Too many passwords of the client are being checked, or were wrong.
        """
        if not authorization:
            return None
        scheme, _, credentials = authorization[0].strip().partition(" ")
        found = None
        if len(authorization) == 1 and scheme.lower() == "basic":
            found = await self._identify_basic(credentials.strip(), client)
        elif len(authorization) == 1 and scheme.lower() == "bearer":
            found = self._identify_bearer(credentials.strip())
        if found is None:
            raise Unauthorized("the name and password, or the token, are wrong")
        if found.claimed is not None and self.on_claims is not None:
            await self.on_claims(found)
        return found

    def reread_issuers_at_hangup(self, path: Path) -> None:
        """Read the file of issuers and their keys again at SIGHUP, until ``close``.

        Parameters
        ----------
        path : Path
            The file. If it has an error, the error is logged and the present issuers stay.
        """

        def reread() -> None:
            self._issuers = read_issuers(path)

        self._forget_hangup = on_hangup(reread)

    def close(self) -> None:
        """Close the file of users, and stop checking passwords."""
        self._forget_hangup()
        self._passwords.close()
        if self._accounts is not None:
            self._accounts.close()

    async def _identify_basic(self, credentials: str, client: str) -> Identity | None:
        try:
            name, colon, password = base64.b64decode(credentials, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        if not colon or self._accounts is None or len(name) > MAX_NAME:  # pauses keep names in memory
            return None
        network = find_network(client)
        key = _hash_credentials(credentials, network)
        remembered = self._recall_identity(key, self._accounts)
        if remembered is not None:
            return remembered
        version = self._version
        self._pauses.check_pause(name, network)
        with self._count_waiting(network):
            check = partial(self._accounts.find_by_password, name, password)
            identity = await asyncio.wrap_future(self._passwords.submit(check))
        if identity is None:
            self._pauses.note_failure(name, network)
        else:
            self._pauses.note_success(name, network)
            if self._version == self._accounts.version == version:  # not changed while the password was checked
                self._remember_identity(key, identity)
        return identity

    @contextmanager
    def _count_waiting(self, network: str) -> Iterator[None]:
        """Count a password from a network that waits for its check."""
        if self._waiting[network] >= _MAX_CLIENT_PASSWORDS:
            raise TooManyPasswords(
                f"{self._waiting[network]} passwords from your address are being checked, the maximum: try again "
                "in a while, or use a token"
            )
        self._waiting[network] += 1
        try:
            yield
        finally:
            self._waiting[network] -= 1
            if not self._waiting[network]:
                del self._waiting[network]

    def _remember_identity(self, key: bytes, identity: Identity) -> None:
        if len(self._remembered) >= _MAX_REMEMBERED:
            self._remembered.clear()
        self._remembered[key] = identity, time.monotonic() + _REMEMBERED_SECONDS

    def _recall_identity(self, key: bytes, accounts: Accounts) -> Identity | None:
        if accounts.version != self._version:
            self._remembered.clear()
            self._version = accounts.version
        identity, until = self._remembered.get(key, (None, 0.0))
        return identity if until > time.monotonic() else None

    def _identify_bearer(self, token: str) -> Identity | None:
        if not token or len(token) > _MAX_TOKEN_LENGTH:
            return None
        found = self._accounts.find_by_token(token) if self._accounts is not None else None
        for issuer in self._issuers:
            found = found or issuer.verify_token(token)
        return found


def _hash_credentials(credentials: str, network: str) -> bytes:
    """Return the key of a correct password from one network; from other networks, pauses must slow down guessing."""
    return hashlib.sha256(f"{network} {credentials}".encode()).digest()
