"""``skyhouse update`` and ``skyhouse delete``: correct and delete stored rows by their id.

    ids and new values into the correction table of every server -> staging table with links to the live parts
      -> ALTER UPDATE or DELETE of it -> counts checked, comment "verified" -> published like a load

Only the corrected columns of parts with corrected rows are rewritten. Readers see all corrections or none. A row whose
sort key is corrected (its position, or the time or the parent by which the table is ordered) is deleted and inserted
with its new values. A killed correction has changed nothing, or is verified: when it is started again, it starts from
the beginning, or publishes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_registered
from clickhouse_schema.latest_versions import key_sql
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Table
from clickhouse_schema.servers import Servers
from clickhouse_schema.table_ddl import given_columns, list_placing_columns
from loaders.load_error import LoadError
from loaders.pipeline.append_rows import TableAppends, finish_stopped_append
from loaders.pipeline.chunk_reader import Chunk, read_chunks
from loaders.pipeline.correction_plan import plan_correction
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.latest_rows import refuse_latest_table
from loaders.pipeline.load_checks import refuse_match
from loaders.pipeline.match_changes import MatchChanges
from loaders.pipeline.named_input import hash_file
from loaders.pipeline.rejects_file import RejectsFile
from loaders.pipeline.storage_choice import find_known_storage
from loaders.progress_reporter import Reporter
from loaders.storage.correction_table import CorrectionTable
from loaders.storage.load_state import FinishedLoad, TableState
from loaders.storage.storage_protocol import TableStorage
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.file_formats import open_source
from tap_service.readers.table_source import RejectedRow, Source
from tap_service.storage.engine.engine import Engine

#: Maximum number of rows in the files of one correction: every server holds them in memory.
MAX_ROWS = 10_000_000


@dataclass(frozen=True, slots=True)
class _Correction:
    """A correction with its files and the state of its table."""

    request: CorrectionRequest
    reporter: Reporter
    sources: list[Source]
    digests: tuple[str, ...]
    storage: TableStorage
    live: TableState
    appends: TableAppends
    corrected: Table
    rows: CorrectionTable

    @property
    def table(self) -> Table:
        return self.live.entry.tables[0]

    @property
    def staging_state(self) -> TableState:
        """The state of the staging table when it is created."""
        document = self.table.model_dump_json(by_alias=True, exclude_defaults=True)
        below = (load.fingerprint for load in self.live.loads)
        parts = [self.request.command, *self.digests, document, *below]
        fingerprint = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        added = self.appends.sum_appends().appends
        return self.live.model_copy(update={"fingerprint": fingerprint, "verified": False, "added": added})


def correct_rows(engine: Engine, request: CorrectionRequest, reporter: Reporter) -> None:
    """Correct or delete rows, or finish a stopped correction.

    Parameters
    ----------
    engine : Engine
        Has the table.
    request : CorrectionRequest
        The corrections.
    reporter : Reporter
        Receives progress and messages; may stop the correction.

    Raises
    ------
    LoadError
        The correction is impossible or failed; the table has not changed.
    LoadCancelled
        The user stopped the correction; nothing has changed.
    """
    engine = engine.pin_server()
    correction = _prepare_correction(engine, request, reporter)
    try:
        done = None if _is_applied(correction) else _apply_correction(correction)
    finally:
        correction.rows.drop_table()
    if done is not None:
        verb = "corrected" if done.kind == "update" else "deleted"
        bad_rows = f"; {done.rejected:,} bad rows are in {request.rejects}" if done.rejected else ""
        reporter.output(f"{verb} {done.rows:,} rows of {request.table}{bad_rows}")


def _apply_correction(correction: _Correction) -> FinishedLoad | None:
    """Fill the staging tables, unless a killed command did, and publish; return the record, None without a change."""
    wanted = correction.staging_state
    state = correction.storage.staging.read_state()
    matches = MatchChanges(correction.storage.engine, correction.request.table)
    if state is None or not _is_complete(correction, state, wanted):
        state = _fill_staging(correction, wanted)
    elif matches.has_any():  # which need the ids of the rows that a killed command has corrected
        rejects = _open_rejects(correction)
        _read_corrections(correction, rejects)
    if state is None:
        correction.reporter.output(f"no row of {correction.request.table} has one of these ids: nothing was changed")
        return None
    _announce_rows(correction, matches)
    correction.storage.publication.publish_staging()
    if correction.appends.latest is not None:
        correction.appends.latest.publish()
    matches.follow_change(correction.reporter)
    return state.loads[-1]


def _announce_rows(correction: _Correction, matches: MatchChanges) -> None:
    """Announce the old and new positions of corrected rows to the kept matches."""
    is_update = correction.request.command == "update"
    tables = [correction.storage.live.rows_sql, *([correction.storage.staging.rows_sql] if is_update else [])]
    rows = [f"{table} WHERE {correction.rows.is_corrected_sql}" for table in tables]
    matches.announce_rows(rows, correction.rows.columns if is_update else None)


def _open_rejects(correction: _Correction) -> RejectsFile:
    rejects = RejectsFile(correction.request.rejects, correction.request.max_errors)
    rejects.start()
    return rejects


def _is_complete(correction: _Correction, state: TableState, wanted: TableState) -> bool:
    """Whether the staging tables have this correction and are verified."""
    is_same = (state.fingerprint, state.added) == (wanted.fingerprint, wanted.added)
    latest = correction.appends.latest
    return is_same and state.verified and (latest is None or latest.is_staged(state.fingerprint))


def _prepare_correction(engine: Engine, request: CorrectionRequest, reporter: Reporter) -> _Correction:
    catalogue = read_catalogue(engine)
    refuse_latest_table(catalogue.schemas, request.table)
    refuse_match(None, catalogue, request.table)
    storage = find_known_storage(engine, request.table, catalogue)
    live = None if storage is None else storage.live.read_state()
    if storage is None or live is None:
        raise LoadError(f"there is no loaded table {request.table}; see skyhouse tables")
    appends = TableAppends(storage, live)
    finish_stopped_append(appends, reporter)
    sources = [open_source(path) for path in request.files]
    corrected = plan_correction(request, live.entry.tables[0], sources, reporter)
    for source in sources:
        Conformer(corrected, source)  # raises if a file lacks columns, before anything is created
    rows = CorrectionTable(Servers(engine), storage.schema_name, storage.table_name, corrected)
    digests = tuple(hash_file(path) for path in request.files)
    return _Correction(request, reporter, sources, digests, storage, live, appends, corrected, rows)


def _is_applied(correction: _Correction) -> bool:
    """Whether all files were applied before and are not to be applied again. Raises if only some were applied."""
    request = correction.request
    if request.again:
        return False
    applied = {digest for load in correction.live.find_loads(request.command) for digest in load.digests}
    known = [path for path, digest in zip(request.files, correction.digests, strict=True) if digest in applied]
    if known and len(known) < len(request.files):
        raise LoadError(
            f"already applied to {request.table}: {', '.join(map(str, known))}. Give only the other files, or --again"
        )
    if known:
        correction.storage.publication.finish_publishing()
        MatchChanges(correction.storage.engine, request.table).follow_change(correction.reporter)
        correction.reporter.output(
            f"already applied to {request.table}: nothing was changed (--again applies the files again)"
        )
    return bool(known)


def _fill_staging(correction: _Correction, wanted: TableState) -> TableState | None:
    """Make the corrected table and verify it; return its state, or None if no row is corrected."""
    rejects = _open_rejects(correction)
    _read_corrections(correction, rejects)
    correction.reporter.check()
    live, staging = correction.storage.live, correction.storage.staging
    count = correction.rows.count_corrected(live.rows_sql)
    if not count:
        return None
    live_rows = wanted.rows + correction.appends.sum_appends().rows
    staging.create_table(wanted.entry, correction.table, wanted, onto_live=True)
    try:
        if correction.request.command == "delete":
            staging.change_rows(f"DELETE WHERE {correction.rows.is_corrected_sql}")
        else:
            _update_rows(correction)
        _verify_rows(correction, count, live_rows)
        if correction.appends.latest is not None:
            correction.appends.latest.stage_keys(_keys_sql(correction), staging.rows_sql, wanted.fingerprint)
    except BaseException:
        staging.drop_table()
        raise
    return _mark_verified(correction, wanted, count, rejects.count)


def _read_corrections(correction: _Correction, rejects: RejectsFile) -> None:
    """Fill the table of corrections. Bad rows, and ids that no row of the table has, are rejected."""
    request, rows = correction.request, correction.rows
    rows.create_table()
    chunks: list[Chunk] = []
    count = 0
    for chunk in read_chunks(correction.corrected, correction.sources, rejects):
        correction.reporter.check()
        chunks.append(chunk)
        count += chunk.rows
        if count > MAX_ROWS:
            raise LoadError(f"more than {MAX_ROWS:,} rows, too many for one {request.command}: split the files")
        rows.add_rows(chunk.batches)
        correction.reporter.progress(count, chunk.fraction)
    _reject_unknown(correction, chunks, rejects)
    rejects.close()
    rejects.report_cut_times(correction.reporter)
    if repeated := count - rows.count_ids():
        correction.reporter.message(f"{repeated:,} rows have the same id as a later row, which applies")


def _reject_unknown(correction: _Correction, chunks: list[Chunk], rejects: RejectsFile) -> None:
    unknown = correction.rows.find_unknown(correction.storage.live.rows_sql)
    column = ", ".join(correction.corrected.layout.id)
    first = 0
    for chunk in chunks:
        found = [(row - first, value) for row, value in unknown if first <= row < first + chunk.rows]
        origins = chunk.find_origins([row for row, _ in found])
        for (_, value), (source, number) in zip(found, origins, strict=True):
            error = RejectedRow(number, column, value, f"the id of no row of {correction.request.table}")
            rejects.add_errors(source.path, source.unit, [error])
        first += chunk.rows


def _update_rows(correction: _Correction) -> None:
    """Write the new values to the rows of the staging table."""
    staging, table, rows = correction.storage.staging, correction.table, correction.rows
    plain = staging.find_plain_columns(table).intersection(rows.columns)
    if with_nulls := rows.find_nulls(plain):
        staging.allow_nulls(table, with_nulls)
    if list_placing_columns(table).isdisjoint(rows.columns):
        changes = (f"{quote_identifier(name)} = {rows.value_sql(name)}" for name in rows.columns)
        staging.change_rows(f"UPDATE {', '.join(changes)} WHERE {rows.is_corrected_sql}")
    else:
        _move_rows(correction)


def _move_rows(correction: _Correction) -> None:
    """Delete the rows from the staging table and insert them with their new values."""
    staging, table, rows = correction.storage.staging, correction.table, correction.rows
    names = {name: quote_identifier(name) for name in given_columns(table)}
    values = (f"{rows.value_sql(name)} AS {sql}" if name in rows.columns else sql for name, sql in names.items())
    gateway = staging.open_gateway(table)
    # the condition uses the stored ids, and ids are never corrected
    gateway.fill_from_query(f"SELECT {', '.join(values)} FROM {staging.rows_sql} WHERE {rows.is_corrected_sql}")
    try:
        if orphans := gateway.find_orphans():
            raise LoadError(
                f"{len(orphans):,} rows of {correction.request.table} would have no usable parent, the first with"
                f" {orphans[0].column} {orphans[0].value}: {orphans[0].reason}. Nothing was changed"
            )
        staging.change_rows(f"DELETE WHERE {rows.is_corrected_sql}")
        staging.insert_gateway(gateway)
    finally:
        gateway.drop_tables()


def _verify_rows(correction: _Correction, count: int, live_rows: int) -> None:
    """Raise ``LoadError`` unless the staging table has the corrected rows of the live table."""
    staging = correction.storage.staging
    is_update = correction.request.command == "update"
    wanted = live_rows - (0 if is_update else count)
    found = sum(staging.count_chunk_rows().values())
    errors = [] if found == wanted else [f"it has {found:,} rows instead of {wanted:,}"]
    if is_update and (finished := correction.rows.count_finished(staging.rows_sql)) != count:
        errors.append(f"{finished:,} of {count:,} rows are corrected")
    errors += staging.find_problems()
    appended = correction.appends.sum_appends().appends
    if appended != correction.staging_state.added:
        errors.append("rows were appended meanwhile")
    if errors:
        raise LoadError(
            f"the corrected copy of {correction.request.table} is wrong: {'; '.join(errors)}. Nothing was changed:"
            f" start the {correction.request.command} again (skyhouse verify finds damage of the table)"
        )


def _keys_sql(correction: _Correction) -> str:
    """Return the SQL of the keys of corrected versions, before and after the correction."""
    key = key_sql(correction.table)
    storage, where = correction.storage, correction.rows.is_corrected_sql
    found = (f"SELECT {key} FROM {rows} WHERE {where}" for rows in (storage.live.rows_sql, storage.staging.rows_sql))
    return f"SELECT DISTINCT {key} FROM ({' UNION ALL '.join(found)})"


def _mark_verified(correction: _Correction, state: TableState, count: int, rejected: int) -> TableState:
    storage = correction.storage
    done = FinishedLoad(
        kind=correction.request.command,
        fingerprint=state.fingerprint,
        files=tuple(map(str, correction.request.files)),
        digests=correction.digests,
        rows=count,
        rejected=rejected,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    version, _ = read_registered(storage.engine, storage.schema_name, storage.table_name)
    state = state.model_copy(update={"verified": True, "loads": (*state.loads, done), "catalogue": version})
    storage.staging.mark_verified(state)
    return state
