"""Decides which results can be shared, and who may read a share: clients that see all tables that its query read."""

from __future__ import annotations

from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME as USER_SCHEMA
from clickhouse_schema.engine_tables.user_table_record import SHARED_PREFIX
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME
from tap_service.models.identity import Identity
from tap_service.models.result_provenance import ResultProvenance
from tap_service.models.share import Share
from tap_service.service_errors import Conflict, Forbidden, Unauthorized
from tap_service.services.catalogue.catalogue_cache import CatalogueCache


class ShareAccess:
    """Checks the rights to share results, and to read shares, by the catalogues of users."""

    def __init__(self, catalogues: CatalogueCache) -> None:
        self._catalogues = catalogues

    def check_shareable(self, provenance: ResultProvenance, owner: str | None) -> None:
        """Check that a result can be shared.

        Parameters
        ----------
        provenance : ResultProvenance
            The provenance of the result.
        owner : str or None
            The owner of the job.

        Raises
        ------
        Forbidden
            The result has rows of user tables, or rows of TAP_SCHEMA about tables that not everybody sees.
        Conflict
            A table changed while the job ran, so the result belongs to no version of it.
        """
        for table in provenance.tables:
            _check_no_user_table(table.name)
            if table.name.startswith(f"{TAP_SCHEMA_NAME}.") and not self._is_public(table.name, owner):
                raise Forbidden(
                    f"{table.name} describes tables to you that not everybody sees, and the share would show them to "
                    "its readers: run the query without signing in, and share that job"
                )
        changed = next((table.name for table in provenance.tables if not table.version), "")
        if changed:
            raise Conflict(f"{changed} changed while the job ran, so its rows belong to no version: run the job again")

    def check_reader(self, share: Share, user: Identity | None) -> None:
        """Check that a client may read a share, its result and its files.

        The owner and administrators may read it, and clients that see all its tables. A deleted table counts as visible
        if everybody saw it when the share was created.

        Parameters
        ----------
        share : Share
            The share.
        user : Identity or None
            The user; None for an anonymous client.

        Raises
        ------
        Unauthorized, Forbidden
            An anonymous client, or a user, does not see a table.
        """
        if user is not None and (user.admin or user.name == share.owner):
            return
        visible = self._catalogues.snapshot_for(user.name if user else None)
        everything = self._catalogues.snapshot
        for table in share.provenance.tables:
            is_gone = everything.find_table(table.name) is None
            if visible.find_table(table.name) is None and not (is_gone and table.name not in share.restricted):
                message = "this share reads tables that not everybody sees: "
                if user is None:
                    raise Unauthorized(f"{message}sign in as a user who sees them")
                raise Forbidden(f"{message}ask its author, or the operator, for access to them")

    def find_restricted(self, provenance: ResultProvenance) -> frozenset[str]:
        """Return the names of the tables of a result that not everybody sees."""
        public = self._catalogues.snapshot_for(None)
        return frozenset(table.name for table in provenance.tables if public.find_table(table.name) is None)

    def _is_public(self, name: str, owner: str | None) -> bool:
        """Return whether a user reads the same rows of this table as everybody."""
        own, public = (self._catalogues.snapshot_for(user).find_table(name) for user in (owner, None))
        return own is not None and public is not None and own.storage_sql == public.storage_sql


def _check_no_user_table(name: str) -> None:
    schema = name.partition(".")[0].lower()
    if schema != USER_SCHEMA and not schema.startswith(SHARED_PREFIX):
        return
    whose = "one of your tables" if schema == USER_SCHEMA else "another user's table"
    raise Forbidden(
        f"the query reads {name}, {whose}, which readers of the share would not see: download the table, and run the "
        "query with it as an upload, which the share keeps for all its readers"
    )
