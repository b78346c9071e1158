"""Loading files into a table: the whole way from the files to a table that everybody sees, resumable at any point."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from clickhouse_schema.apply import read_catalogue
from clickhouse_schema.model import Table
from loaders import publish
from loaders.chunks import ahead, chunks
from loaders.errors import LoadError
from loaders.plan import planned, split_name
from loaders.progress import Reporter
from loaders.rejects import Rejects
from loaders.staging import Load, Storage, TableState
from tap_service.readers import open_source
from tap_service.readers.conform import Conformer
from tap_service.readers.source import Source
from tap_service.storage.engine import Engine

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
    storage = Storage(engine, *split_name(request.table))
    live = storage.live_state()
    if live is not None and request.mode == "append" and request.schema_file is None:
        schema = live.entry
    else:
        schema = planned(request.table, sources, request.schema_file, request.strict, reporter)
    table = schema.tables[0]
    input_ = _Input([_digest(path) for path in request.files], table)
    if live is not None and input_.is_in(live.loads, request.mode):
        publish.finish(engine, storage, live)
        reporter.output(f"already loaded: {request.table} holds these files ({live.rows:,} rows)")
        return
    if request.mode == "create" and storage.live_exists():
        raise LoadError(
            f"{request.table} exists; add to it with --append, replace it with --replace, or choose another --table"
        )
    if live is not None and request.mode == "append" and live.entry.tables[0] != table:
        raise LoadError(f"{request.schema_file} describes other columns than {request.table} has: leave out --schema")
    if live is None:
        _refuse_lookalike(engine, request.table)
    for source in sources:
        Conformer(table, source)  # before anything is made: whether each file has the table's columns
    onto = live.loads if live is not None and request.mode == "append" else ()
    state = TableState(fingerprint=input_.fingerprint(onto), entry=schema, loads=onto)
    found = storage.staging_state()
    if found is None or found.fingerprint != state.fingerprint:
        storage.begin(schema, table, state, onto_live=bool(onto))
        found = state
    elif not found.verified:
        reporter.message(f"going on with the load of {request.table} that was stopped")
    if not found.verified:
        found = _filled(storage, found, table, request, sources, reporter)
    storage.publish()
    publish.finish(engine, storage, found)
    done = found.loads[-1]
    bad = f"; {done.rejected:,} bad rows are in {request.rejects}" if done.rejected else ""
    reporter.output(f"loaded {done.rows:,} rows into {request.table}{bad}")


def _refuse_lookalike(engine: Engine, name: str) -> None:
    """Case does not count in ADQL: of two tables whose names differ in case alone none could be named plainly."""
    for entry in read_catalogue(engine).entries:
        if entry.qualified != name and entry.qualified.lower() == name.lower():
            raise LoadError(
                f"there is a table {entry.qualified}, and {name} differs from it in case alone, which ADQL ignores: "
                "choose another --table"
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

    def is_in(self, loads: tuple[Load, ...], mode: Mode) -> bool:
        """Whether a table made by ``loads`` is what the load would make (replace), or has this input in it."""
        if mode == "replace" and len(loads) > 1:
            return False
        return any(load.fingerprint == self.fingerprint(loads[:position]) for position, load in enumerate(loads))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _filled(
    storage: Storage, state: TableState, table: Table, request: LoadRequest, sources: list[Source], reporter: Reporter
) -> TableState:
    """Insert the chunks that the staging table has not, count them all, and mark the table verified."""
    rejects = Rejects(request.rejects, request.max_errors)
    done = storage.chunks()
    wanted = {0: state.rows} if state.rows else {}
    rows = 0
    with ahead(chunks(table, sources, rejects)) as coming, ThreadPoolExecutor(_INSERTERS) as inserters:
        running: deque[Future[None]] = deque()
        for chunk in coming:
            reporter.check()
            if chunk.number not in done:
                running.append(inserters.submit(storage.insert, chunk.number, chunk.batches))
            if len(running) > _INSERTERS:
                running.popleft().result()
            wanted[chunk.number] = chunk.rows
            rows += chunk.rows
            reporter.progress(rows, chunk.fraction)
        for insert in running:
            insert.result()
    rejects.close()
    reporter.check()
    if storage.chunks() != wanted:
        storage.drop_staging()
        raise LoadError(
            f"the rows in {storage.staging} are not those of the files, so nothing was changed: start the load again"
        )
    finished = Load(
        fingerprint=state.fingerprint,
        files=tuple(str(path) for path in request.files),
        rows=rows,
        rejected=rejects.count,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    state = state.model_copy(update={"verified": True, "loads": (*state.loads, finished)})
    storage.mark_verified(state)
    return state
