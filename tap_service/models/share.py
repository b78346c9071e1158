"""A share: a query and its result, with a permanent link that can be cited."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime

from tap_service.models.client import find_client_key
from tap_service.models.result_provenance import ResultProvenance
from tap_service.models.uws_job import JobFile, JobResult

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
#: 16 letters of 32 are 80 random bits
_ID_LENGTH = 16

#: how the keys of all shares in the result store begin
KEY_PREFIX = "share-"


def make_share_id() -> str:
    """Return an id that nobody can guess, without letters that look alike."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_ID_LENGTH))


def hash_delete_key(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Share:
    """One share. Instants are in UTC, cut to milliseconds.

    Attributes
    ----------
    owner
        The user who made it; None for an anonymous client.
    is_named
        Whether readers see the owner's name.
    client
        The address of its maker, for the limits of anonymous clients.
    expiry, result_expiry
        When the record and the stored result are deleted.
    maxrec
        The row limit with which the query ran.
    files
        The tables that the query uploads; their names are those of the tables.
    restricted
        Names of tables that not everybody saw when it was made.
    layout
        How the portal showed the result: an opaque text.
    result
        None when it is kept no more.
    delete_key
        Hash of the key with which an anonymous client may delete it; '' for users.
    """

    share_id: str
    owner: str | None
    creation_time: datetime
    expiry: datetime
    result_expiry: datetime
    query: str
    maxrec: int
    provenance: ResultProvenance
    is_named: bool = False
    client: str = ""
    title: str = ""
    note: str = ""
    files: tuple[JobFile, ...] = ()
    restricted: frozenset[str] = frozenset()
    layout: str = ""
    result: JobResult | None = None
    delete_key: str = ""

    @property
    def user(self) -> str:
        """For whose limits it counts."""
        return find_client_key(self.owner, self.client)

    @property
    def omitted(self) -> list[str]:
        """The names of the uploads that the query has read and that are not kept."""
        kept = {file.name for file in self.files}
        return [name for name in self.provenance.uploads or () if name not in kept]

    @property
    def stored_bytes(self) -> int:
        """The bytes that it takes: those of its result, its files and its texts."""
        texts = len(self.query) + len(self.layout) + len(self.title) + len(self.note)
        return (self.result.size if self.result else 0) + sum(file.size for file in self.files) + texts

    @property
    def due(self) -> datetime:
        """When something of it is to be deleted."""
        return self.expiry if self.result is None else min(self.expiry, self.result_expiry)

    @property
    def stored_keys(self) -> tuple[str, ...]:
        """The keys of its result and its files in the result store."""
        return (*(() if self.result is None else (self.result.key,)), *(file.key for file in self.files))


def result_key(share_id: str) -> str:
    return f"{KEY_PREFIX}{share_id}-result"


def file_key(share_id: str, number: int) -> str:
    return f"{KEY_PREFIX}{share_id}-file{number}"


def find_share_id(key: str) -> str:
    """Return the share to which a key of the result store belongs; '' for a key of a job."""
    return key.split("-")[1] if key.startswith(KEY_PREFIX) else ""
