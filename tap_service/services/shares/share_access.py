"""Who may read a share: whoever sees all tables that its query has read."""

from __future__ import annotations

from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME as USER_SCHEMA
from tap_service.models.identity import Identity
from tap_service.models.result_provenance import ResultProvenance
from tap_service.models.share import Share
from tap_service.service_errors import Conflict, Forbidden, Unauthorized
from tap_service.services.catalogue.catalogue_cache import CatalogueCache


class ShareAccess:
    def __init__(self, catalogues: CatalogueCache) -> None:
        self._catalogues = catalogues

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


def check_shareable(provenance: ResultProvenance) -> None:
    """Raise Forbidden for rows of users' own tables, which nobody else sees, and Conflict for those of no version."""
    own = [table.name for table in provenance.tables if table.name.lower().startswith(f"{USER_SCHEMA}.")]
    if own:
        raise Forbidden(
            f"the query reads {own[0]}, a table of your own that readers of the share would not see: download the "
            "table, and run the query with it as an upload, which is kept with the share for all its readers"
        )
    changed = next((table.name for table in provenance.tables if not table.version), "")
    if changed:
        raise Conflict(f"{changed} has changed while the job ran, so its rows are of no one version: run it again")
