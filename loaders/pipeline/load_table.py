"""Loading files into a table: the whole way from the files to a table that everybody sees, resumable at any point."""

from __future__ import annotations

import hashlib
import secrets
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_registered
from clickhouse_schema.schema_model import Table
from loaders.load_error import LoadError
from loaders.pipeline.append_rows import Additions
from loaders.pipeline.chunk_reader import Chunk, ahead, chunks
from loaders.pipeline.load_plan import planned
from loaders.pipeline.rejects_file import Rejects
from loaders.pipeline.storage_choice import live_state, storage_of
from loaders.progress_reporter import Reporter
from loaders.storage.gateway_table import Orphan
from loaders.storage.load_state import Load, TableState
from loaders.storage.server_storage import Storage
from tap_service.readers import open_source
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.table_source import Fault, Source
from tap_service.storage.engine.engine import Engine

Mode = Literal["create", "replace", "append"]

#: The engine sorts and packs a block on one core, so two chunks at a time.
_INSERTERS = 2


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """``table`` is ``schema.table``. More than ``max_errors`` bad rows stop the load; they go to ``rejects``."""

    files: tuple[Path, ...]
    table: str
    rejects: Path
    schema_file: Path | None = None
    strict: bool = False
    max_errors: int = 100
    mode: Mode = "create"


def load(engine: Engine, request: LoadRequest, reporter: Reporter) -> None:
    """Load, or go on with a load that was stopped. Raises ``LoadError``; then the visible table is as it was."""
    sources = [open_source(path) for path in request.files]
    engine = engine.list_servers()[0]  # rows go through tables of one server
    catalogue = read_catalogue(engine)
    live = live_state(engine, request.table, catalogue)
    if live is not None and request.mode == "append" and request.schema_file is None:
        schema = live.entry
    else:
        schema = planned(request.table, sources, request.schema_file, request.strict, reporter)
    table = schema.tables[0]
    input_ = _Input([_digest(path) for path in request.files], table)
    storage = storage_of(engine, schema.name, table, catalogue)
    additions = None
    if live is None:
        _refuse_lookalike(catalogue, request.table)
    else:
        additions = Additions(storage, live)
        _complete(additions, reporter)
        known = input_.known(live.loads, additions) if request.mode == "append" else ()
        if input_.is_in(live.loads, request.mode, additions) or len(known) == len(sources):
            storage.finish()
            rows = live.rows + additions.added().rows
            reporter.output(f"already loaded: {request.table} holds these files ({rows:,} rows)")
            if request.mode == "replace":
                reporter.message(f"to load them anew all the same: skyhouse drop {request.table} first")
            return
        if known:
            told = ", ".join(str(request.files[place]) for place in known)
            raise LoadError(f"already in {request.table}: {told}. Append the other files alone")
    _refuse_mode(request, live, storage, table)
    for source in sources:
        Conformer(table, source)  # before anything is made: whether each file has the table's columns
    onto = live if request.mode == "append" else None
    state = TableState(
        fingerprint=input_.fingerprint(onto.loads if onto else ()),
        entry=schema,
        loads=onto.loads if onto else (),
        origin=onto.origin if onto else secrets.token_hex(8),
        added=additions.added().appends if onto and additions else 0,
    )
    found = storage.staging_state()
    if found is None or (found.fingerprint, found.added) != (state.fingerprint, state.added):
        if onto and additions and (added := _added(additions, input_, table, request, sources, reporter)):
            return _tell(added, request, reporter)
        storage.begin(schema, table, state, onto_live=bool(onto))
        found = state
    elif not found.verified:
        reporter.message(f"going on with the load of {request.table} that was stopped")
    if not found.verified:
        before = found.rows + (additions.added().rows if onto and additions else 0)
        found = _filled(storage, found, before, input_, request, sources, reporter)
    storage.publish()
    _tell(found.loads[-1], request, reporter)


def _tell(done: Load, request: LoadRequest, reporter: Reporter) -> None:
    bad = f"; {done.rejected:,} bad rows are in {request.rejects}" if done.rejected else ""
    reporter.output(f"loaded {done.rows:,} rows into {request.table}{bad}")


def _complete(additions: Additions, reporter: Reporter) -> None:
    waiting = additions.waiting()
    if waiting is not None:
        reporter.message(f"finishing an addition that was stopped: {', '.join(waiting.load.files)}")
        additions.complete(waiting)


def _refuse_mode(request: LoadRequest, live: TableState | None, storage: Storage, table: Table) -> None:
    """What ``--append`` and ``--replace`` are for, and what they cannot."""
    if request.mode == "create" and storage.live_exists():
        raise LoadError(
            f"{request.table} exists; add to it with --append, replace it with --replace, or choose another --table"
        )
    if live is None:
        if request.mode == "append" and storage.live_exists():
            raise LoadError(
                f"nothing tells how {request.table} was loaded, so nothing can be added: load all of it with --replace"
            )
        return
    old = live.entry.tables[0]
    if request.mode == "append" and old != table:
        raise LoadError(f"{request.schema_file} describes other columns than {request.table} has: leave out --schema")
    if storage.is_cluster and old.is_sharded != table.is_sharded:
        raise LoadError(f"{request.table} cannot become another kind of table of a cluster: drop it first")


def _refuse_lookalike(catalogue: Catalogue, name: str) -> None:
    """Case does not count in ADQL: of two tables whose names differ in case alone none could be named plainly."""
    for entry in catalogue.entries:
        if entry.qualified_name != name and entry.qualified_name.lower() == name.lower():
            raise LoadError(
                f"there is a table {entry.qualified_name}, and {name} differs from it in case alone, which ADQL"
                " ignores: choose another --table"
            )


@dataclass(frozen=True, slots=True)
class _Input:
    """What a load reads: the digests of its files and the model of the table they go into."""

    digests: Sequence[str]
    table: Table

    def fingerprint(self, onto: tuple[Load, ...]) -> str:
        """Stands for this input loaded on top of the loads ``onto``."""
        parts = [
            *self.digests,
            self.table.model_dump_json(by_alias=True, exclude_defaults=True),
            *(load.fingerprint for load in onto),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def is_in(self, loads: tuple[Load, ...], mode: Mode, additions: Additions) -> bool:
        """Whether a table made by ``loads`` is what the load would make (replace), or has this input in it."""
        if mode == "replace" and (len(loads) > 1 or additions.added().appends):
            return False
        if mode != "replace" and additions.has(additions.fingerprint(self.digests)):
            return True
        return any(load.fingerprint == self.fingerprint(loads[:position]) for position, load in enumerate(loads))

    def known(self, loads: tuple[Load, ...], additions: Additions) -> tuple[int, ...]:
        """The places of files that were loaded or added, whatever others were with them."""
        there = additions.digests(self.digests).union(*(load.digests for load in loads))
        return tuple(place for place, digest in enumerate(self.digests) if digest in there)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _added(
    additions: Additions,
    input_: _Input,
    table: Table,
    request: LoadRequest,
    sources: list[Source],
    reporter: Reporter,
) -> Load | None:
    """Add the files' rows to the live table; None if they are too many for that, and then nothing is changed."""
    rejects = Rejects(request.rejects, request.max_errors)
    few = list(islice(chunks(table, sources, rejects), 2))
    if len(few) > 1:
        rejects.close()
        return None
    orphans = additions.gather(few[0] if few else None)
    for chunk in few:
        _put_aside(chunk, orphans, rejects)
    rejects.close()
    reporter.check()
    rows = sum(chunk.rows for chunk in few) - len(orphans)
    done = _finished(additions.fingerprint(input_.digests), input_, request, rows, rejects)
    additions.add(done)
    return done


def _filled(
    storage: Storage,
    state: TableState,
    before: int,
    input_: _Input,
    request: LoadRequest,
    sources: list[Source],
    reporter: Reporter,
) -> TableState:
    """Insert the chunks that the staging table has not, count them all, and mark the table verified.

    ``before``: rows that it was begun onto.
    """
    rejects = Rejects(request.rejects, request.max_errors)
    done = storage.chunks()
    wanted = {0: before} if before else {}
    read = 0

    def settle(chunk: Chunk, insert: Future[list[Orphan]]) -> None:
        orphans = insert.result()
        _put_aside(chunk, orphans, rejects)
        wanted[chunk.number] = chunk.rows - len(orphans)

    with (
        ahead(chunks(state.entry.tables[0], sources, rejects)) as coming,
        ThreadPoolExecutor(_INSERTERS) as inserters,
    ):
        running: deque[tuple[Chunk, Future[list[Orphan]]]] = deque()
        for chunk in coming:
            reporter.check()
            wanted[chunk.number] = chunk.rows
            if done.get(chunk.number, 0) < chunk.rows:
                running.append((chunk, inserters.submit(storage.insert, chunk)))
            if len(running) > _INSERTERS:
                settle(*running.popleft())
            read += chunk.rows
            reporter.progress(read, chunk.fraction)
        for each in running:
            settle(*each)
    rejects.close()
    reporter.check()
    wanted = {number: rows for number, rows in wanted.items() if rows}
    faults = [] if storage.chunks() == wanted else ["the rows there are not those of the files"]
    if faults := faults or storage.faults():
        storage.drop_staging()
        raise LoadError(
            f"what was filled for {request.table} is wrong: {'; '.join(faults)}."
            " Nothing was changed: start the load again"
        )
    finished = _finished(state.fingerprint, input_, request, sum(wanted.values()) - before, rejects)
    version, _ = read_registered(storage.engine, storage.schema_name, storage.table_name)
    state = state.model_copy(update={"verified": True, "loads": (*state.loads, finished), "catalogue": version})
    storage.mark_verified(state)
    return state


def _put_aside(chunk: Chunk, orphans: list[Orphan], rejects: Rejects) -> None:
    origins = chunk.origins([orphan.row for orphan in orphans])
    for orphan, (source, where) in zip(orphans, origins, strict=True):
        rejects.add(source.path, source.unit, [Fault(where, orphan.column, orphan.value, orphan.reason)])


def _finished(fingerprint: str, input_: _Input, request: LoadRequest, rows: int, rejects: Rejects) -> Load:
    return Load(
        fingerprint=fingerprint,
        files=tuple(str(path) for path in request.files),
        digests=tuple(input_.digests),
        rows=rows,
        rejected=rejects.count,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )
