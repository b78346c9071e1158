"""``skyhouse verify``: checks the counts, ranges, order and index of a table, on the stored values with numpy.

On a cluster it also checks that each row is on its shard, and its copies once in each overlap that needs them.

The index is checked in reverse: the centre of the cell of ``hpx29`` must be within a cell's radius of the row's
position. This check shares nothing with the formula of the index, and tolerates any rounding at cell borders.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.healpix import NO_POSITION, ORDER, cell_centres, max_cell_radius
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.row_store import find_row_layout, row_value_sql
from clickhouse_schema.schema_model import Column, Table
from clickhouse_schema.shape_cover import cover_column, has_cover, shape_column
from loaders.load_error import LoadError
from loaders.pipeline.append_rows import TableAppends
from loaders.pipeline.latest_rows import open_latest_rows
from loaders.pipeline.storage_choice import find_known_storage
from loaders.pipeline.table_name import split_name
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import Change, TableState
from loaders.storage.storage_protocol import TableStorage
from loaders.tables.verify_attached import verify_attached
from loaders.tables.verify_match import find_match_problems
from tap_service.readers import shape_columns
from tap_service.storage.engine.engine import Engine

#: Rows of each batch that are sampled for the costly checks.
_SAMPLE_ROWS = 1000
_BATCH_ROWS = 65536


def verify_table(engine: Engine, name: str, reporter: Reporter) -> None:
    """Compare a table with the record of what was loaded, and report what was checked.

    All rows are read at least once. Values of shapes and indexes are checked for a sample of the rows.

    Parameters
    ----------
    engine : Engine
        The engine with the table.
    name : str
        ``schema.table``.
    reporter : Reporter
        Receives a line for each check, and the progress.

    Raises
    ------
    LoadError
        There is no such loaded table, or it differs from what was loaded; the message has all problems.
    LoadCancelled
        The user has stopped the command.
    """
    catalogue = read_catalogue(engine)
    entry = catalogue.find_entry(*split_name(name))
    if entry is not None and entry.attached is not None:
        verify_attached(entry, entry.attached.attachment, reporter)
        return
    storage = find_known_storage(engine, name, catalogue)
    state = None if storage is None else storage.live.read_state()
    if storage is None or state is None:
        raise LoadError(f"there is no loaded table {name}; see skyhouse tables")
    table = state.entry.tables[0]
    rows = int(engine.fetch_table(f"SELECT count() AS rows FROM {storage.live.rows_sql}").column(0)[0].as_py())
    errors = _find_count_problems(storage, state, name, rows, reporter)
    if catalogue.find_entry(storage.schema_name, storage.table_name) is None:
        errors.append("the catalogue does not know the table (any command that is started now finishes its load)")
    errors += _find_damaged_parts(engine, storage)
    shard_lines, shard_errors = storage.live.check_shards()
    for line in shard_lines:
        reporter.output(line)
    errors += shard_errors
    errors += _find_shape_problems(engine, storage, table, reporter)
    errors += _find_row_store_problems(engine, storage, table, reporter)
    if table.match is not None:
        errors += find_match_problems(engine, catalogue, state.entry, table, reporter)
    latest = open_latest_rows(engine, state.entry, table)
    if latest is not None:
        errors += latest.find_problems(storage.live.rows_sql)
        reporter.output(f"{storage.schema_name}.{latest.storage.table_name}: compared with the latest of all versions")
    if table.layout.position is not None:
        errors += _find_position_problems(engine, storage, table.layout.position, rows, reporter)
    if errors:
        raise LoadError(f"{name} differs from what was loaded: {'; '.join(errors)}")


def _find_count_problems(
    storage: TableStorage, state: TableState, name: str, rows: int, reporter: Reporter
) -> list[str]:
    appends = TableAppends(storage, state)
    totals = appends.sum_appends()
    loaded = state.rows + totals.rows
    inputs = len(state.find_loads("load")) + totals.appends
    added = state.sum_rows("load") + totals.rows
    reporter.output(f"{name}: {rows:,} rows, {added:,} were loaded from {inputs} inputs")
    kinds: tuple[tuple[Change, str], ...] = (("update", "corrected"), ("delete", "deleted"))
    for kind, verb in kinds:
        if corrections := state.find_loads(kind):
            reporter.output(f"{verb}: {state.sum_rows(kind):,} rows by {len(corrections)} inputs")
    errors = []
    if rows != loaded:
        errors.append(f"{abs(rows - loaded):,} rows are {'missing' if rows < loaded else 'too many'}")
    if (unfinished := appends.read_unfinished()) is not None:
        files = ", ".join(unfinished.load.files)
        errors.append(f"the append of {files} was stopped (any load into the table finishes it)")
    return errors


def _find_damaged_parts(engine: Engine, storage: TableStorage) -> list[str]:
    """Find parts with wrong checksums on every server that answers."""
    found = (
        part
        for server in engine.list_servers()
        for name in storage.live.storage_names
        for part in server.fetch_table(f"CHECK TABLE {name}").to_pylist()
    )
    return [f"part {part['part_path']} is damaged: {part['message']}" for part in found if not part["is_passed"]]


def _find_row_store_problems(engine: Engine, storage: TableStorage, table: Table, reporter: Reporter) -> list[str]:
    """Compare the stored bytes of all rows with the values of their columns."""
    layout = find_row_layout(table)
    if layout is None:
        return []
    differs = f"{quote_identifier(layout.column)} != {row_value_sql(layout)}"
    sql = f"SELECT count() AS rows, countIf({differs}) AS wrong FROM {storage.live.rows_sql}"
    [found] = engine.fetch_table(sql).to_pylist()
    reporter.output(f"row store: {found['rows']:,} rows compared with their columns")
    return [f"{found['wrong']:,} rows differ from their row store"] if found["wrong"] else []


# --- positions --------------------------------------------------------------------------------------------------------


@dataclass
class _PositionCheck:
    """Counts over one pass through the positions."""

    rows: int = 0
    without_position: int = 0
    out_of_range: int = 0
    out_of_order: int = 0
    sampled: int = 0
    wrong_index: int = 0
    _last: tuple[int, int, int] = field(default=(-1, 0, 0))

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Check a batch with the columns part, offset in the part, ``hpx29``, longitude and latitude (degrees)."""
        part, offset, hpx29 = (batch.column(i).to_numpy().astype(np.uint64) for i in range(3))
        ra, dec = (_column_to_doubles(batch.column(i)) for i in (3, 4))
        self.rows += batch.num_rows
        missing = np.isnan(ra) | np.isnan(dec)
        self.without_position += int(missing.sum())
        with np.errstate(invalid="ignore"):
            self.out_of_range += int(((ra < 0) | (ra > 360) | (np.abs(dec) > 90)).sum())
        self.wrong_index += int((missing != (hpx29 == NO_POSITION)).sum())
        self._add_order(part, offset, hpx29)
        chosen = np.flatnonzero(~missing & (hpx29 < NO_POSITION))
        chosen = chosen[:: max(1, len(chosen) // _SAMPLE_ROWS)]
        self.sampled += len(chosen)
        self.wrong_index += _count_off_centre(hpx29[chosen], ra[chosen], dec[chosen])

    def _add_order(self, part: NDArray[np.uint64], offset: NDArray[np.uint64], hpx29: NDArray[np.uint64]) -> None:
        """Count rows whose ``hpx29`` is less than the ``hpx29`` of the previous row of the part."""
        is_next = (part[1:] == part[:-1]) & (offset[1:] > offset[:-1])
        self.out_of_order += int((is_next & (hpx29[1:] < hpx29[:-1])).sum())
        last_part, last_offset, last_hpx29 = self._last
        if int(part[0]) == last_part and int(offset[0]) > last_offset and int(hpx29[0]) < last_hpx29:
            self.out_of_order += 1
        self._last = int(part[-1]), int(offset[-1]), int(hpx29[-1])


def _find_position_problems(
    engine: Engine, storage: TableStorage, position: tuple[str, str], rows: int, reporter: Reporter
) -> list[str]:
    check = _PositionCheck()
    live = storage.live
    ra, dec = (quote_identifier(column) for column in position)
    row_index = "_part_index, _part_offset" if live.is_one_table else "0 AS part, 0 AS offset"
    sql = f"SELECT {row_index}, hpx29, {ra}, {dec} FROM {live.rows_sql}"
    with engine.stream_batches(sql, settings={"max_threads": 1}, batch_rows=_BATCH_ROWS) as batches:
        for batch in batches:
            reporter.check()
            check.add_batch(batch)
            reporter.progress(check.rows, check.rows / max(rows, 1))
    reporter.output(f"positions: {check.rows - check.without_position:,}, {check.without_position:,} rows have none")
    order = f", order of {check.rows:,} rows checked" if live.is_one_table else ""
    reporter.output(f"hpx29: {check.sampled:,} rows compared with their positions{order}")
    counts = {
        "positions out of range": check.out_of_range,
        "rows out of order": check.out_of_order,
        "rows with a wrong hpx29": check.wrong_index,
    }
    return [f"{count:,} {error}" for error, count in counts.items() if count]


def _column_to_doubles(column: pa.Array) -> NDArray[np.float64]:
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def _count_off_centre(hpx29: NDArray[np.uint64], ra: NDArray[np.float64], dec: NDArray[np.float64]) -> int:
    """Count positions (degrees) that are farther from the centre of their cell than any point of a cell can be."""
    longitude, latitude = np.radians(ra), np.radians(dec)
    cos_latitude = np.cos(latitude)
    axes = (cos_latitude * np.cos(longitude), cos_latitude * np.sin(longitude), np.sin(latitude))
    chords = np.linalg.norm(np.stack(axes, axis=1) - cell_centres(ORDER, hpx29), axis=1)
    return int((chords > max_cell_radius(ORDER) + 1e-15).sum())


# --- shapes -----------------------------------------------------------------------------------------------------------


def _find_shape_problems(engine: Engine, storage: TableStorage, table: Table, reporter: Reporter) -> list[str]:
    """Check the shapes and covers that are stored next to columns of shapes, on a sample of each batch."""
    errors = []
    for column in table.columns:
        if has_cover(column.type):
            sampled, wrong = _check_shapes(engine, storage, column, reporter)
            reporter.output(f"{column.name}: the shapes and covers of {sampled:,} rows checked")
            errors += [f"{wrong:,} rows with a wrong shape or cover of {column.name}"] if wrong else []
    return errors


def _check_shapes(engine: Engine, storage: TableStorage, column: Column, reporter: Reporter) -> tuple[int, int]:
    """Return the numbers of sampled and wrong rows."""
    shape = shape_column(column.name) if column.type.has_stored_shapes else column.name
    names = ", ".join(quote_identifier(name) for name in (column.name, shape, cover_column(column.name)))
    sampled = wrong = 0
    sql = f"SELECT {names} FROM {storage.live.rows_sql}"
    with engine.stream_batches(sql, batch_rows=_BATCH_ROWS) as batches:
        for batch in batches:
            reporter.check()
            sample = batch.take(pa.array(range(0, batch.num_rows, max(1, batch.num_rows // _SAMPLE_ROWS))))
            sampled += sample.num_rows
            wrong += _count_wrong_shapes(column.type, sample)
    return sampled, wrong


def _count_wrong_shapes(kind: ColumnType, rows: pa.RecordBatch) -> int:
    """Count rows whose cover, or whose shape read again from its value, differs."""
    values, shapes, covers = (rows.column(i).to_pylist() for i in range(3))
    is_wrong = [not shape_columns.is_covered(kind, *pair) for pair in zip(shapes, covers, strict=True)]
    if kind.has_stored_shapes:
        read_again = shape_columns.read_regions(kind, pa.array(values, kind.arrow))[0].to_pylist()
        differs = [again != shape for again, shape in zip(read_again, shapes, strict=True)]
        is_wrong = [wrong or other for wrong, other in zip(is_wrong, differs, strict=True)]
    return sum(is_wrong)
