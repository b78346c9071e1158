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
#: 16 letters from an alphabet of 32 are 80 random bits
_ID_LENGTH = 16

#: prefix of the keys of all shares in the result store
KEY_PREFIX = "share-"


def make_share_id() -> str:
    """Return a random id that cannot be guessed, without letters that look alike."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_ID_LENGTH))


def hash_delete_key(key: str) -> str:
    """Return the hash of the key with which an anonymous client may delete a share.

    Parameters
    ----------
    key : str
        The secret key, which is not stored.

    Returns
    -------
    str
        SHA-256 in hexadecimal digits (``Share.delete_key``).
    """
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Share:
    """A share. Instants are in UTC, cut to milliseconds.

    Attributes
    ----------
    share_id : str
        The id, a part of the permanent link.
    owner : str or None
        The user who created the share; None for an anonymous client.
    creation_time, expiry, result_expiry : datetime
        When the share was created, and when the share and its stored result are deleted.
    query : str
        The query in ADQL.
    maxrec : int
        The row limit with which the query ran.
    provenance : ResultProvenance
        The provenance of the result.
    is_named : bool
        Whether readers see the owner's name.
    client : str
        The address of the client that created the share, for the limits of anonymous clients.
    title, note : str
        Texts for readers.
    files : tuple of JobFile
        The uploads of the query, named like their tables.
    restricted : frozenset of str
        Names of the tables that not all clients saw when the share was created.
    layout : str
        How the portal showed the result: an opaque text.
    result : JobResult or None
        The stored result; None after it was deleted.
    delete_key : str
        Hash of the key with which an anonymous client may delete the share; '' for a share of a user.
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
        """The key of the client whose limits count the share."""
        return find_client_key(self.owner, self.client)

    @property
    def omitted(self) -> list[str]:
        """The names of the uploads that the query read and that the share does not keep."""
        kept = {file.name for file in self.files}
        return [name for name in self.provenance.uploads or () if name not in kept]

    @property
    def stored_bytes(self) -> int:
        """The size of the result, the files and the texts, in bytes."""
        texts = len(self.query) + len(self.layout) + len(self.title) + len(self.note)
        return (self.result.size if self.result else 0) + sum(file.size for file in self.files) + texts

    @property
    def due(self) -> datetime:
        """When the share or its result is deleted next."""
        return self.expiry if self.result is None else min(self.expiry, self.result_expiry)

    @property
    def stored_keys(self) -> tuple[str, ...]:
        """The keys of the result and the files in the result store."""
        return (*(() if self.result is None else (self.result.key,)), *(file.key for file in self.files))


def result_key(share_id: str) -> str:
    """Return the key of a share's result in the result store."""
    return f"{KEY_PREFIX}{share_id}-result"


def file_key(share_id: str, number: int) -> str:
    """Return the key of a share's file in the result store.

    Parameters
    ----------
    share_id : str
        The id of the share.
    number : int
        The index of the file among the files of the share.
    """
    return f"{KEY_PREFIX}{share_id}-file{number}"


def find_share_id(key: str) -> str:
    """Return the id of the share to which an entry of the result store belongs.

    Parameters
    ----------
    key : str
        A key of the result store.

    Returns
    -------
    str
        The id, also of a share that no longer exists; '' for a key of a job.
    """
    return key.split("-")[1] if key.startswith(KEY_PREFIX) else ""
