"""Requests to /shares. Each method is one request, and checks the rights of the client."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from clickhouse_schema.engine_tables.table_versions import read_table_versions
from tap_service.config import Config
from tap_service.models.client import Client
from tap_service.models.identity import Identity
from tap_service.models.result_provenance import ResultProvenance, TableVersion
from tap_service.models.share import Share, hash_delete_key, make_share_id, result_key
from tap_service.models.timestamps import add_seconds, milliseconds_to_instant, now
from tap_service.models.upload_parameter import Part
from tap_service.models.uws_job import Job, JobFile, JobResult
from tap_service.service_errors import (
    Forbidden,
    NotFound,
    ParameterError,
    QuotaExceeded,
    ServiceUnavailable,
    Unauthorized,
)
from tap_service.services.shares.share_access import ShareAccess
from tap_service.services.shares.share_files import add_uploads
from tap_service.services.shares.share_lifetimes import ShareLifetimes
from tap_service.settings.client_limits import find_open_part
from tap_service.storage.engine.engine import Engine, EngineError
from tap_service.storage.results.job_upload_files import store_upload_file
from tap_service.storage.results.result_store import ResultMissing, ResultStore
from tap_service.storage.share_store import NoSuchShare, ShareStore, ShareStoreUnavailable, StoredShares

_DAY_SECONDS = 86_400
_NANOSECONDS = 1_000_000

MAX_TITLE, MAX_NOTE, MAX_LAYOUT = 200, 4000, 60_000
#: maximum number of shares in a list
MAX_LISTED = 1000


@dataclass(frozen=True, slots=True)
class ShareRequest:
    """A request to create a share.

    Attributes
    ----------
    title, note : str
        Texts for readers.
    is_named : bool
        Whether readers see the name of the user.
    layout : str
        How the portal shows the result: an opaque text.
    omitted : tuple of str
        Names of uploads that the share does not keep.
    """

    title: str = ""
    note: str = ""
    is_named: bool = False
    layout: str = ""
    omitted: tuple[str, ...] = ()

    def check(self) -> None:
        """Check title and layout. Raises ParameterError."""
        if len(self.title) > MAX_TITLE or not (self.title.isprintable() or not self.title):
            raise ParameterError(f"TITLE must be one line of at most {MAX_TITLE} printable characters")
        if len(self.layout.encode("utf-8", "surrogatepass")) > MAX_LAYOUT:
            raise ParameterError(f"LAYOUT has more than {MAX_LAYOUT} bytes: show fewer plots")


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """The version of a table when a share was created (``then``), and now; None if the table was deleted."""

    then: TableVersion
    now: TableVersion | None

    @property
    def is_same(self) -> bool:
        """Whether the table has not changed."""
        return self.now is not None and self.now.version == self.then.version


class ShareService:
    """Creates, reads and deletes shares. Methods raise NotFound, Unauthorized, Forbidden and ServiceUnavailable.

    Parameters
    ----------
    config : Config
        The quotas and lifetimes.
    engine : Engine
        The engine, for the versions of tables.
    shares : ShareStore
        The records of shares.
    results : ResultStore
        The stored results and files.
    access : ShareAccess
        The rights of clients.
    lifetimes : ShareLifetimes
        Deletes shares.
    """

    def __init__(
        self,
        config: Config,
        engine: Engine,
        shares: ShareStore,
        results: ResultStore,
        access: ShareAccess,
        lifetimes: ShareLifetimes,
    ) -> None:
        self._config = config
        self._engine = engine
        self._shares = shares
        self._results = results
        self._access = access
        self._lifetimes = lifetimes

    def create_share(
        self, job: Job, client: Client, request: ShareRequest, files: Mapping[str, Part]
    ) -> tuple[Share, str]:
        """Share the result of a job.

        Parameters
        ----------
        job : Job
            A COMPLETED job with CHECKSUM=true, which the client may use.
        client : Client
            The user who will own the share, or an anonymous client.
        request : ShareRequest
            The texts of the share, and the uploads that it leaves out.
        files : Mapping[str, Part]
            The files of the job that its query reads, by the names of their parts.

        Returns
        -------
        (Share, str)
            The share, and the key with which an anonymous client can delete it; '' for users.

        Raises
        ------
        ParameterError, Conflict
            The job, the request or the files cannot be shared.
        Forbidden
            The query reads user tables, or rows of TAP_SCHEMA that not everybody sees.
        QuotaExceeded
            The shares of the client, or of all clients, are too many or too large.
        """
        if not self._config.share_days:
            raise Forbidden("this service has no shares: its operator has set SKYHOUSE_SHARE_DAYS=0")
        request.check()
        result, provenance = _require_result(job)
        self._access.check_shareable(provenance, job.owner)
        share, key = self._build_share(job, result, provenance, client, request)
        share, parts = add_uploads(share, job, files, request.omitted)
        with _translate_errors(share.share_id):
            self._store_share(share, result, parts)
        return share, key

    def get_share(self, share_id: str, user: Identity | None) -> Share:
        """Return a share that a client may read; None for an anonymous client.

        Raises
        ------
        NotFound
            The share does not exist, or has expired.
        Unauthorized, Forbidden
            The client does not see all tables of the share.
        """
        with _translate_errors(share_id):
            share = self._lifetimes.get_share(share_id)
        if share.expiry <= now():
            raise _not_found(share_id)
        self._access.check_reader(share, user)
        return share if share.result_expiry > now() else replace(share, result=None)

    def list_shares(self, user: Identity | None) -> list[Share]:
        """Return the 1,000 newest shares of a user, the newest first; none for an anonymous client."""
        if user is None:
            return []
        with _translate_errors(""):
            return self._shares.list_shares(user.name, MAX_LISTED)

    def list_all(self, last: int) -> list[Share]:
        """Return the ``last`` newest shares of all clients, for administrators."""
        with _translate_errors(""):
            return self._shares.list_shares(last=last)

    def delete_share(self, share_id: str, user: Identity | None, key: str = "") -> None:
        """Delete a share with its result and files.

        Parameters
        ----------
        share_id : str
            The id.
        user : Identity or None
            The owner of the share, or an administrator; None for an anonymous client.
        key : str
            The key of a share that an anonymous client created.

        Raises
        ------
        Unauthorized, Forbidden
            The client may not delete the share.
        """
        with _translate_errors(share_id):
            share = self._shares.get_share(share_id)
            if not _may_delete(share, user, key):
                if user is None and share.owner is not None:
                    raise Unauthorized("this share belongs to a user: sign in as that user to delete it")
                raise Forbidden(
                    "only its owner, an anonymous client with its KEY, or an administrator may delete a share"
                )
            self._lifetimes.delete_share(share_id)

    def compare_versions(self, share: Share) -> list[VersionComparison]:
        """Compare the tables of a share with their present versions.

        Parameters
        ----------
        share : Share
            The share.

        Returns
        -------
        list[VersionComparison]
            A comparison for each table that the query read.

        Raises
        ------
        ServiceUnavailable
            The present versions cannot be read.
        """
        tables = share.provenance.tables
        keys = {table.name: _split_name(table.name) for table in tables}
        try:
            found = read_table_versions(self._engine, keys.values())
        except EngineError as error:
            raise ServiceUnavailable("the tables' versions cannot be read now. Try again later") from error
        return [
            VersionComparison(table, self._describe_now(table.name, found.get(keys[table.name]))) for table in tables
        ]

    def read_result(self, share: Share, start: int, end: int) -> Iterator[bytes]:
        """Open the stored result of a share.

        Parameters
        ----------
        share : Share
            A share that the client may read.
        start, end : int
            The range of bytes; ``end`` is exclusive.

        Returns
        -------
        Iterator[bytes]
            Pieces of the range.

        Raises
        ------
        NotFound
            The result was deleted, or is lost.
        ServiceUnavailable
            The result store is unreachable.
        """
        return self._read_stored(require_stored(share).key, start, end)

    def read_file(self, share: Share, name: str) -> tuple[JobFile, Iterator[bytes]]:
        """Open an upload of the query of a share.

        Parameters
        ----------
        share : Share
            A share that the client may read.
        name : str
            The name of the upload.

        Returns
        -------
        tuple[JobFile, Iterator[bytes]]
            The upload, and its bytes in pieces.

        Raises
        ------
        NotFound
            The share does not have this upload, or its file is lost.
        ServiceUnavailable
            The result store is unreachable.
        """
        file = next((file for file in share.files if file.name == name), None)
        if file is None:
            raise NotFound(f"the query of this share has no upload {name[:60]!r}")
        return file, self._read_stored(file.key, 0, file.size)

    def _read_stored(self, key: str, start: int, end: int) -> Iterator[bytes]:
        try:
            return self._results.read_result(key, start, end)
        except ResultMissing as error:
            raise NotFound("the stored file of this share has been lost: run its query again") from error
        except OSError as error:
            raise ServiceUnavailable("the results cannot be read now. Try again later") from error

    def _describe_now(self, name: str, version: int | None) -> TableVersion | None:
        if version is None:
            return None
        return TableVersion(name, str(version), milliseconds_to_instant(version // _NANOSECONDS))

    def _build_share(
        self,
        job: Job,
        result: JobResult,
        provenance: ResultProvenance,
        client: Client,
        request: ShareRequest,
    ) -> tuple[Share, str]:
        share_id, created = make_share_id(), now()
        key = "" if client.name is not None else secrets.token_urlsafe(16)
        days, result_days = self._config.share_days, self._config.share_result_days
        return Share(
            share_id,
            client.name,
            created,
            expiry=add_seconds(created, days * _DAY_SECONDS),
            result_expiry=add_seconds(created, min(days, result_days) * _DAY_SECONDS),
            query=find_parameter(job, "QUERY"),
            maxrec=int(job.info.get("rowLimit", 0)),
            provenance=provenance,
            is_named=request.is_named and client.name is not None,
            client=client.address,
            title=request.title,
            note=request.note,
            restricted=self._access.find_restricted(provenance),
            layout=request.layout,
            result=_make_own(result, share_id) if result_days else None,
            delete_key=hash_delete_key(key) if key else "",
        ), key

    def _check_quota(self, share: Share, stored: StoredShares) -> None:
        """Raise QuotaExceeded if a new share and the stored shares exceed a quota."""
        config, added, is_anonymous = self._config, share.stored_bytes, share.owner is None
        whose = "the shares of your address" if is_anonymous else "your shares"
        if stored.number >= config.user_shares:
            raise QuotaExceeded(f"{whose} are {stored.number}, the maximum: delete one that is no longer needed")
        limit = config.anonymous_share_disk if is_anonymous else config.user_share_disk
        if limit and stored.size + added > limit:
            raise QuotaExceeded(
                f"{whose} would take {stored.size + added:,} bytes with this one, more than the limit of {limit:,}: "
                "delete others, or share fewer rows or columns"
            )
        open_part = find_open_part(config.share_disk, config.user_reserve)
        if config.share_disk and is_anonymous and stored.anonymous_size + added > open_part:
            raise QuotaExceeded(
                f"the shares of all anonymous clients would take more than the {open_part:,} bytes that the service "
                "has for them: log in, and share it as a user, or wait until others have deleted their shares"
            )
        if config.share_disk and stored.total_size + added > config.share_disk:
            raise QuotaExceeded(
                f"the shares of all clients would take more than the {config.share_disk:,} bytes that the service has "
                "for them: share fewer rows, or ask its operator for more disk space"
            )

    def _store_share(self, share: Share, result: JobResult, parts: Sequence[Part]) -> None:
        """Store a share: first its record, so that the sweep finds an owner for the files. Raises QuotaExceeded."""
        self._shares.create_share(share, partial(self._check_quota, share))
        try:
            if share.result is not None:
                self._results.copy_result(result.key, share.result.key)
            for file, part in zip(share.files, parts, strict=True):
                store_upload_file(self._results, file.key, file.name, part)
        except BaseException as error:
            self._lifetimes.delete_share(share.share_id)
            if isinstance(error, ResultMissing):
                raise NotFound("the result of this job has been lost: run the query again") from error
            if isinstance(error, OSError):
                raise ServiceUnavailable("the service cannot store a result now. Try again later") from error
            raise


def require_stored(share: Share) -> JobResult:
    """Return the stored result of a share.

    Parameters
    ----------
    share : Share
        The share.

    Raises
    ------
    NotFound
        The result was deleted at its expiry.
    """
    if share.result is None:
        raise NotFound("the result of this share is no longer stored: run its query again, and compare the checksum")
    return share.result


def _make_own(result: JobResult, share_id: str) -> JobResult:
    """Return a job's result as the result of a share.

    It has a new ETag, because the ETag of the job contains the job's id, which gives access to an anonymous job.
    """
    key = result_key(share_id)
    return replace(result, key=key, etag=key, provenance=None)


def find_parameter(job: Job, name: str) -> str:
    """Return the value of a parameter of a job, '' if the job does not have it; ``name`` is in upper case."""
    return next((value for given, value in job.parameters if given.upper() == name), "")


def _require_result(job: Job) -> tuple[JobResult, ResultProvenance]:
    """Return the result of a job and its provenance. Raises ParameterError if the job lacks one of them."""
    if job.result is None:
        raise ParameterError(f"the job has no result to share: it is {job.phase}")
    provenance = job.result.provenance
    if provenance is None:
        raise ParameterError(
            "the job has no checksum of its rows: create it again with CHECKSUM=true, then share that job"
        )
    return job.result, provenance


def _may_delete(share: Share, user: Identity | None, key: str) -> bool:
    if user is not None and (user.admin or user.name == share.owner):
        return True
    return bool(share.delete_key) and secrets.compare_digest(share.delete_key, hash_delete_key(key))


def _split_name(name: str) -> tuple[str, str]:
    schema, _, table = name.partition(".")
    return schema, table


def _not_found(share_id: str) -> NotFound:
    return NotFound(f"there is no share {share_id[:60]!r}: it never existed, was deleted, or has expired")


@contextmanager
def _translate_errors(share_id: str) -> Iterator[None]:
    try:
        yield
    except NoSuchShare as error:
        raise _not_found(share_id) from error
    except ShareStoreUnavailable as error:
        raise ServiceUnavailable(f"{error}. Try again later") from error
