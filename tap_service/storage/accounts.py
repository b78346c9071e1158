"""Local users and their tokens, in an SQLite file that the service reads and ``skyhouse user`` writes.

Passwords are stored as salted scrypt hashes (RFC 7914, N=2^14, r=8, p=1: about 50 ms). Tokens are 256 random bits, so
a plain SHA-256 of them suffices.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tap_service.models.identity import Identity

#: name of the file in the data directory
ACCOUNTS_FILE = "accounts.sqlite"

#: no colon: it ends the name in Basic authentication, and names of token issuers' users contain one
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
_MIN_PASSWORD = 8
_MAX_PASSWORD = 1000
_TOKEN_PREFIX = "sky_"  # noqa: S105  lets scanners of source code find leaked tokens

_TABLES = """
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
"""


class AccountError(Exception):
    """A command on accounts failed; the message names the reason."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user; ``tokens`` are the valid ones: (label, Unix time of expiry or None)."""

    name: str
    admin: bool
    tokens: tuple[tuple[str, float | None], ...]


class Accounts:
    """The file of users. Safe for several threads and processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            path.touch(mode=0o600)
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._connection.executescript(_TABLES)
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
        """Return the user if the password is right. Takes the same time for an unknown name."""
        with self._lock:
            row = self._connection.execute("SELECT salt, hash, admin FROM user WHERE name = ?", (name,)).fetchone()
        salt, known, admin = row or (*self._nobody, 0)
        fits = len(password) <= _MAX_PASSWORD and hmac.compare_digest(_hash_password(password, salt), known)
        return Identity(name, bool(admin)) if fits and row else None

    def find_by_token(self, token: str) -> Identity | None:
        with self._lock:
            row = self._connection.execute(
                "SELECT name, admin FROM token JOIN user ON user = name WHERE token.hash = ?"
                " AND (expires IS NULL OR expires > ?)",
                (_hash_token(token), time.time()),
            ).fetchone()
        return Identity(row[0], bool(row[1])) if row else None

    # --- for the operator

    def add_user(self, name: str, password: str, *, admin: bool = False) -> None:
        """Create a user, or change the password and rank of an existing one. Raise AccountError."""
        if not _NAME.fullmatch(name):
            raise AccountError(
                f"{name!r} is not a valid user name: use up to 100 letters, digits and . _ @ + -, "
                "beginning with a letter or digit"
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

    def remove_user(self, name: str) -> None:
        """Delete a user with all tokens. Raise AccountError."""
        with self._begin_transaction() as connection:
            self._require_user(name)
            connection.execute("DELETE FROM user WHERE name = ?", (name,))

    def add_token(self, name: str, label: str, days: float | None) -> str:
        """Create and return a token, valid for ``days`` or forever; only its hash is stored. Raise AccountError."""
        token = _TOKEN_PREFIX + secrets.token_urlsafe(32)
        expires = None if days is None else time.time() + days * 86400
        with self._begin_transaction() as connection:
            self._require_user(name)
            connection.execute("INSERT INTO token VALUES (?, ?, ?, ?)", (_hash_token(token), name, label, expires))
        return token

    def revoke_tokens(self, name: str, label: str) -> int:
        """Delete the tokens of a user with this label; return how many there were. Raise AccountError."""
        with self._begin_transaction() as connection:
            self._require_user(name)
            return connection.execute("DELETE FROM token WHERE user = ? AND label = ?", (name, label)).rowcount

    def list_accounts(self) -> list[Account]:
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

    @contextmanager
    def _begin_transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def _hash_password(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=1 << 14, r=8, p=1)


def _hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
