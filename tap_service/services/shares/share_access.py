"""Which results can be shared, and who may read a share: whoever sees all tables that its query has read."""

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
    def __init__(self, catalogues: CatalogueCache) -> None:
        self._catalogues = catalogues

    def check_shareable(self, provenance: ResultProvenance, owner: str | None) -> None:
        """Raise Forbidden for rows that only the job's owner may show to others, and Conflict for those of no version.

        These are rows of user tables, and what TAP_SCHEMA tells the owner about tables that not everybody sees.
        """
        for table in provenance.tables:
            _check_no_user_table(table.name)
            if table.name.startswith(f"{TAP_SCHEMA_NAME}.") and not self._is_public(table.name, owner):
                raise Forbidden(
                    f"{table.name} describes tables to you that not everybody sees, and readers of the share would "
                    "learn of them: run the query without signing in, and share that job"
                )
        changed = next((table.name for table in provenance.tables if not table.version), "")
        if changed:
            raise Conflict(f"{changed} has changed while the job ran, so its rows are of no one version: run it again")

    def check_reader(self, share: Share, caller: Identity | None) -> None:
        """Raise Unauthorized or Forbidden unless the caller may read the share, its result and its files.

        Its owner and administrators may. A table that is gone is open to those to whom it was open: to everybody, or
        else to nobody.
        """
        if caller is not None and (caller.admin or caller.name == share.owner):
            return
        visible = self._catalogues.snapshot_for(caller.name if caller else None)
        everything = self._catalogues.snapshot
        for table in share.provenance.tables:
            is_gone = everything.find_table(table.name) is None
            if visible.find_table(table.name) is None and not (is_gone and table.name not in share.restricted):
                message = "this share reads tables that not everybody sees: "
                if caller is None:
                    raise Unauthorized(f"{message}sign in as a user who sees them")
                raise Forbidden(f"{message}ask its maker, or the operator, for access to them")

    def find_restricted(self, provenance: ResultProvenance) -> frozenset[str]:
        """Return the names of tables that not everybody sees."""
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
    whose = "a table of your own" if schema == USER_SCHEMA else "another user's table"
    raise Forbidden(
        f"the query reads {name}, {whose} that readers of the share would not see: download the table, and run the "
        "query with it as an upload, which is kept with the share for all its readers"
    )
