"""Local users and their tokens, in an SQLite file that the service reads and ``skyhouse user`` writes.

Passwords are stored as salted scrypt hashes (RFC 7914, N=2^14, r=8, p=1: about 50 ms). Tokens are 256 random bits, so
a plain SHA-256 of them suffices.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import secrets
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clickhouse_schema.visible_tables import EVERYBODY
from tap_service.models.identity import Identity
from tap_service.settings.client_limits import ANONYMOUS, CLASS, USERS
from tap_service.storage.sqlite_versions import LaterVersion, begin_transaction, execute_script, open_file

#: No colon: in Basic authentication it ends the name, and the names of token issuers' users contain it.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]*")
#: A mail address that may stand in a mail header.
_MAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
MAX_NAME = 100
_MIN_PASSWORD = 8
_MAX_PASSWORD = 1000
_TOKEN_PREFIX = "sky_"  # noqa: S105  scanners of source code find leaked tokens by it

#: SQL of ``Token.token_id``
_TOKEN_ID = "lower(substr(hex(token.hash), 1, 24))"  # noqa: S105  an expression

#: ``_STEPS[n]`` brings the file from version n to n + 1
_STEPS = (
    execute_script("""
CREATE TABLE IF NOT EXISTS user (
    name TEXT PRIMARY KEY,
    salt BLOB NOT NULL,
    hash BLOB NOT NULL,
    admin INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS token (
    hash BLOB PRIMARY KEY,
    user TEXT NOT NULL REFERENCES user (name) ON DELETE CASCADE,
    label TEXT NOT NULL,
    expires REAL
);
"""),
    execute_script("""
CREATE TABLE user_group (name TEXT PRIMARY KEY);
CREATE TABLE member (
    group_name TEXT NOT NULL REFERENCES user_group (name) ON DELETE CASCADE,
    user TEXT NOT NULL,
    PRIMARY KEY (group_name, user)
);
CREATE INDEX member_by_user ON member (user)
"""),
    # classes of users, also of users of token issuers, who are in no other table
    execute_script("CREATE TABLE user_class (user TEXT PRIMARY KEY, class TEXT NOT NULL)"),
    # mail addresses of users, also of users of token issuers
    execute_script("CREATE TABLE user_mail (user TEXT PRIMARY KEY, address TEXT NOT NULL)"),
)


class AccountError(Exception):
    """A command on accounts failed; the message says why."""


class AccountsUnavailable(AccountError):
    """The file of users cannot be written now."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user.

    Attributes
    ----------
    name : str
        The user's name.
    admin : bool
        Whether the user is an administrator.
    tokens : tuple[tuple[str, float | None], ...]
        The valid tokens: label, and Unix time of expiry or None.
    """

    name: str
    admin: bool
    tokens: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A valid token.

    Attributes
    ----------
    token_id : str
        The first 24 hexadecimal digits of the token's hash, from which the token cannot be found.
    label : str
        The user's name for it.
    expires : float | None
        Unix time of expiry; None for a token that never expires.
    """

    token_id: str
    label: str
    expires: float | None

    def matches(self, token: str) -> bool:
        """Return whether this is the record of the secret ``token``; tokens are 256 random bits."""
        return _hash_token(token).hex().startswith(self.token_id)


class Accounts:
    """The file of users. Safe for several threads and processes.

    Parameters
    ----------
    path : Path
        The SQLite file, which is created if it is missing.

    Raises
    ------
    AccountError
        The file cannot be used. Methods that change it raise AccountsUnavailable if it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            self._connection = open_file(path, _STEPS, "foreign_keys = ON")
        except LaterVersion as error:
            raise AccountError(str(error)) from error
        except (OSError, sqlite3.Error) as error:
            raise AccountError(f"the file of users {path} cannot be used: {error}") from error
        self._nobody = (secrets.token_bytes(16), secrets.token_bytes(64))

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @property
    def version(self) -> int:
        """A number that changes whenever another connection changes the file."""
        with self._lock:
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    # --- for the service

    @property
    def has_users(self) -> bool:
        with self._lock:
            return bool(self._connection.execute("SELECT EXISTS (SELECT 1 FROM user)").fetchone()[0])

    def find_by_password(self, name: str, password: str) -> Identity | None:
        """Find a user by name and password. Takes the same time for an unknown name.

        Parameters
        ----------
        name, password : str
            What the client has sent.

        Returns
        -------
        Identity or None
            The user, None if the name or the password is wrong.
        """
        with self._lock:
            row = self._connection.execute("SELECT salt, hash, admin FROM user WHERE name = ?", (name,)).fetchone()
        salt, known, admin = row or (*self._nobody, 0)
        fits = len(password) <= _MAX_PASSWORD and hmac.compare_digest(_hash_password(password, salt), known)
        return Identity(name, bool(admin)) if fits and row else None

    def find_by_token(self, token: str) -> Identity | None:
        """Return the user of a valid token, with the time of its expiry; None for other tokens."""
        with self._lock:
            row = self._connection.execute(
                "SELECT name, admin, expires FROM token JOIN user ON user = name WHERE token.hash = ?"
                " AND (expires IS NULL OR expires > ?)",
                (_hash_token(token), time.time()),
            ).fetchone()
        if row is None:
            return None
        return Identity(row[0], bool(row[1]), valid_until=math.inf if row[2] is None else row[2])

    def list_tokens(self, name: str) -> list[Token]:
        """Return the valid tokens of a user."""
        with self._lock:
            rows = self._connection.execute(
                f"SELECT {_TOKEN_ID}, label, expires FROM token WHERE user = ? AND (expires IS NULL OR expires > ?)"
                " ORDER BY label, expires",
                (name, time.time()),
            ).fetchall()
        return [Token(*row) for row in rows]

    def revoke_token(self, name: str, token_id: str) -> bool:
        """Delete one token of a user.

        Parameters
        ----------
        name : str
            The user.
        token_id : str
            The ``Token.token_id``.

        Returns
        -------
        bool
            Whether the token existed.
        """
        with self._begin_transaction() as connection:
            deleted = connection.execute(f"DELETE FROM token WHERE user = ? AND {_TOKEN_ID} = ?", (name, token_id))
            return bool(deleted.rowcount)

    def find_groups(self, name: str) -> frozenset[str]:
        """Return the groups of a user, who may be a user of a token issuer."""
        with self._lock:
            rows = self._connection.execute("SELECT group_name FROM member WHERE user = ?", (name,)).fetchall()
        return frozenset(row[0] for row in rows)

    def is_known(self, name: str) -> bool:
        """Return whether a user exists.

        Only a token issuer knows its users, whose names contain a colon: they always count as known.
        """
        if ":" in name:
            return True
        with self._lock:
            return self._connection.execute("SELECT 1 FROM user WHERE name = ?", (name,)).fetchone() is not None

    def find_mail(self, name: str) -> str:
        """Return the mail address of a user, who may be a user of a token issuer; '' if there is none."""
        with self._lock:
            row = self._connection.execute("SELECT address FROM user_mail WHERE user = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    # --- for the operator

    def add_user(self, name: str, password: str, *, admin: bool = False) -> None:
        """Create a user, or set the password and the rights of an existing one.

        Parameters
        ----------
        name : str
            Up to 100 letters, digits and ``. _ @ + -``.
        password : str
            8 to 1000 characters.
        admin : bool
            Whether the user is an administrator.

        Raises
        ------
        AccountError
            The name or the password is not valid.
        """
        if not _is_name(name):
            raise AccountError(
                f"{name!r} is not a valid user name: use up to {MAX_NAME} letters, digits and . _ @ + -, "
                "starting with a letter or digit"
            )
        if not _MIN_PASSWORD <= len(password) <= _MAX_PASSWORD:
            raise AccountError(f"a password must have {_MIN_PASSWORD} to {_MAX_PASSWORD} characters")
        salt = secrets.token_bytes(16)
        with self._begin_transaction() as connection:
            connection.execute(
                "INSERT INTO user VALUES (?, ?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET salt = excluded.salt, hash = excluded.hash, admin = excluded.admin",
                (name, salt, _hash_password(password, salt), admin),
            )

    def require_user(self, name: str) -> None:
        """Raise AccountError unless the user has an account here; users of token issuers have none."""
        with self._lock:
            self._require_user(name)

    def remove_user(self, name: str) -> None:
        """Delete a user with all tokens, memberships, the class and the address. Raise AccountError."""
        with self._begin_transaction() as connection:
            self._require_user(name)
            connection.execute("DELETE FROM user WHERE name = ?", (name,))
            connection.execute("DELETE FROM member WHERE user = ?", (name,))
            connection.execute("DELETE FROM user_mail WHERE user = ?", (name,))
            connection.execute("DELETE FROM user_class WHERE user = ?", (name,))

    def set_class(self, name: str, class_name: str) -> None:
        """Assign a user to a class.

        Parameters
        ----------
        name : str
            The user, who may be a user of a token issuer.
        class_name : str
            A class such as ``@survey``; '' for none.

        Raises
        ------
        AccountError
            The class cannot be assigned, or the user does not exist.
        """
        if class_name and (not CLASS.fullmatch(class_name) or class_name in (ANONYMOUS, USERS)):
            raise AccountError(
                f"{class_name!r} is not a class that can be assigned: use @, letters, digits, _ and -, as in "
                "SKYHOUSE_CLIENT_LIMITS"
            )
        with self._begin_transaction() as connection:
            if ":" not in name:
                self._require_user(name)
            connection.execute("DELETE FROM user_class WHERE user = ?", (name,))
            if class_name:
                connection.execute("INSERT INTO user_class VALUES (?, ?)", (name, class_name))

    def set_mail(self, name: str, address: str) -> None:
        """Set the mail address of a user.

        Parameters
        ----------
        name : str
            The user, who may be a user of a token issuer.
        address : str
            The address; '' deletes it.

        Raises
        ------
        AccountError
            The address is not valid, or the user does not exist.
        """
        if address and not _MAIL.fullmatch(address):
            raise AccountError(f"{address!r} is not a mail address such as alice@example.org")
        with self._begin_transaction() as connection:
            if ":" not in name:
                self._require_user(name)
            connection.execute("DELETE FROM user_mail WHERE user = ?", (name,))
            if address:
                connection.execute("INSERT INTO user_mail VALUES (?, ?)", (name, address))

    def list_classes(self) -> dict[str, str]:
        """Return the class of each user to whom one is assigned."""
        with self._lock:
            return dict(self._connection.execute("SELECT user, class FROM user_class ORDER BY user").fetchall())

    def add_token(self, name: str, label: str, days: float | None, *, latest: float = math.inf) -> str:
        """Create a token, of which only the hash is stored.

        Parameters
        ----------
        name : str
            The user.
        label : str
            A name by which the user recognizes the token.
        days : float | None
            How long the token is valid; None for no limit.
        latest : float
            Unix time until which a token with ``days`` is valid at most.

        Returns
        -------
        str
            The token.

        Raises
        ------
        AccountError
            There is no such user.
        """
        token = _TOKEN_PREFIX + secrets.token_urlsafe(32)
        expires = None if days is None else min(time.time() + days * 86400, latest)
        with self._begin_transaction() as connection:
            self._require_user(name)
            connection.execute("INSERT INTO token VALUES (?, ?, ?, ?)", (_hash_token(token), name, label, expires))
        return token

    def revoke_tokens(self, name: str, label: str) -> int:
        """Delete all tokens of a user with a label.

        Parameters
        ----------
        name : str
            The user.
        label : str
            The label.

        Returns
        -------
        int
            The number of deleted tokens.

        Raises
        ------
        AccountError
            The user does not exist.
        """
        with self._begin_transaction() as connection:
            self._require_user(name)
            return connection.execute("DELETE FROM token WHERE user = ? AND label = ?", (name, label)).rowcount

    def add_members(self, group: str, users: Sequence[str]) -> None:
        """Create a group, unless it exists, and add users to it: all of them or none.

        Raises
        ------
        AccountError
            The name of the group is not valid, or a user does not exist.
        """
        if not _is_name(group) or group == EVERYBODY:
            raise AccountError(
                f"{group!r} is not a valid name of a group: use up to {MAX_NAME} letters, digits and . _ @ + -, "
                f"starting with a letter or digit, and not {EVERYBODY}, to which all users belong"
            )
        with self._begin_transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO user_group VALUES (?)", (group,))
            for user in users:
                if ":" not in user:  # only issuers know their users
                    self._require_user(user)
                connection.execute("INSERT OR IGNORE INTO member VALUES (?, ?)", (group, user))

    def remove_members(self, group: str, users: Sequence[str]) -> None:
        """Remove users from a group, or delete a group.

        Parameters
        ----------
        group : str
            The group.
        users : Sequence[str]
            The users to remove; without any, the group is deleted.

        Raises
        ------
        AccountError
            The group does not exist, or a user is not in it.
        """
        with self._begin_transaction() as connection:
            self._require_group(group)
            for user in users:
                deleted = connection.execute("DELETE FROM member WHERE group_name = ? AND user = ?", (group, user))
                if not deleted.rowcount:
                    raise AccountError(f"{user} is not in {group}; `skyhouse group members {group}` lists its members")
            if not users:
                connection.execute("DELETE FROM user_group WHERE name = ?", (group,))

    def list_groups(self) -> dict[str, tuple[str, ...]]:
        """Return the members of each group."""
        with self._lock:
            groups = self._connection.execute("SELECT name FROM user_group ORDER BY name").fetchall()
            members = self._connection.execute("SELECT group_name, user FROM member ORDER BY user").fetchall()
        members_of = defaultdict(list)
        for group, user in members:
            members_of[group].append(user)
        return {group: tuple(members_of[group]) for (group,) in groups}

    def require_group(self, group: str) -> None:
        """Raise AccountError unless the group exists."""
        with self._lock:
            self._require_group(group)

    def list_accounts(self) -> list[Account]:
        """Return all users, by name."""
        with self._lock:
            users = self._connection.execute("SELECT name, admin FROM user ORDER BY name").fetchall()
            tokens = self._connection.execute(
                "SELECT user, label, expires FROM token WHERE expires IS NULL OR expires > ? ORDER BY label",
                (time.time(),),
            ).fetchall()
        tokens_of = defaultdict(list)
        for user, label, expires in tokens:
            tokens_of[user].append((label, expires))
        return [Account(name, bool(admin), tuple(tokens_of[name])) for name, admin in users]

    def _require_user(self, name: str) -> None:
        if self._connection.execute("SELECT 1 FROM user WHERE name = ?", (name,)).fetchone() is None:
            raise AccountError(f"there is no user {name}; `skyhouse user list` lists the users")

    def _require_group(self, group: str) -> None:
        if self._connection.execute("SELECT 1 FROM user_group WHERE name = ?", (group,)).fetchone() is None:
            raise AccountError(f"there is no group {group}; `skyhouse group list` lists them")

    @contextmanager
    def _begin_transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock, begin_transaction(self._connection):
                yield self._connection
        except sqlite3.Error as error:
            raise AccountsUnavailable(f"the file of users {self._path} cannot be written now: {error}") from error


def _is_name(text: str) -> bool:
    return len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


def _hash_password(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=1 << 14, r=8, p=1)


def _hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
