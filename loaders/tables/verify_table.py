"""Is a table what was loaded: counts, ranges, order and index, checked on the stored values in numpy; on a cluster also
whether each row is on its shard, and its copies once where they must be (``shards``).

The index is checked by the way back: the centre of the cell that ``hpx29`` names must be within a cell's radius of the
row's position. That shares nothing with the formula that made it, and does not mind how borders were rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.healpix import NO_POSITION, ORDER, cell_centres, max_cell_radius
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Table
from clickhouse_schema.shape_cover import cover_column, has_cover, has_shape_texts, shape_column
from loaders.load_error import LoadError
from loaders.pipeline.append_rows import Additions
from loaders.pipeline.storage_choice import known_storage
from loaders.progress_reporter import Reporter
from loaders.storage.server_storage import Storage
from tap_service.readers import shape_columns
from tap_service.storage.engine.engine import Engine

#: Rows of each batch whose index is followed back to the sky.
_SAMPLED = 1000


@dataclass
class _Found:
    """What one pass over the positions sees."""

    rows: int = 0
    without_position: int = 0
    out_of_range: int = 0
    out_of_order: int = 0
    sampled: int = 0
    wrong_index: int = 0
    _last: tuple[int, int, int] = field(default=(-1, 0, 0))

    def add(self, batch: pa.RecordBatch) -> None:
        part, offset, hpx29 = (batch.column(number).to_numpy().astype(np.uint64) for number in range(3))
        ra, dec = (_doubles(batch.column(number)) for number in (3, 4))
        self.rows += batch.num_rows
        missing = np.isnan(ra) | np.isnan(dec)
        self.without_position += int(missing.sum())
        with np.errstate(invalid="ignore"):
            self.out_of_range += int(((ra < 0) | (ra > 360) | (np.abs(dec) > 90)).sum())
        self.wrong_index += int((missing != (hpx29 == NO_POSITION)).sum())
        self._add_order(part, offset, hpx29)
        chosen = np.flatnonzero(~missing & (hpx29 < NO_POSITION))
        chosen = chosen[:: max(1, len(chosen) // _SAMPLED)]
        self.sampled += len(chosen)
        self.wrong_index += _off_centre(hpx29[chosen], ra[chosen], dec[chosen])

    def _add_order(self, part: NDArray[np.uint64], offset: NDArray[np.uint64], hpx29: NDArray[np.uint64]) -> None:
        """Rows of one part, by their place in it, must not fall in ``hpx29``."""
        following = (part[1:] == part[:-1]) & (offset[1:] > offset[:-1])
        self.out_of_order += int((following & (hpx29[1:] < hpx29[:-1])).sum())
        last_part, last_offset, last_hpx29 = self._last
        if int(part[0]) == last_part and int(offset[0]) > last_offset and int(hpx29[0]) < last_hpx29:
            self.out_of_order += 1
        self._last = int(part[-1]), int(offset[-1]), int(hpx29[-1])


def verify(engine: Engine, name: str, reporter: Reporter) -> None:
    """Tell what was checked. Raises ``LoadError`` naming all that is wrong."""
    catalogue = read_catalogue(engine)
    storage = known_storage(engine, name, catalogue)
    state = None if storage is None else storage.live_state()
    if storage is None or state is None:
        raise LoadError(f"there is no loaded table {name}; see skyhouse tables")
    additions = Additions(storage, state)
    added = additions.added()
    rows = engine.fetch_table(f"SELECT count() AS rows FROM {storage.reading}").column(0)[0].as_py()
    loaded = state.rows + added.rows
    inputs = len(state.loads) + added.appends
    reporter.output(f"{name}: {rows:,} rows, {loaded:,} were loaded from {inputs} inputs")
    wrong = []
    if rows != loaded:
        wrong.append(f"{abs(rows - loaded):,} rows are {'missing' if rows < loaded else 'too many'}")
    if (waiting := additions.waiting()) is not None:
        wrong.append(
            f"the addition of {', '.join(waiting.load.files)} was stopped (any load into the table finishes it)"
        )
    if not _is_known(catalogue, storage):
        wrong.append("the catalogue does not know the table (start any command again to finish its load)")
    wrong += _damaged(engine, storage)
    told, misplaced = storage.placed()
    for line in told:
        reporter.output(line)
    wrong += misplaced
    wrong += _wrong_shapes(engine, storage, state.entry.tables[0], reporter)
    position = state.entry.tables[0].layout.position
    if position is not None:
        wrong += _wrong_positions(engine, storage, position, rows, reporter)
    if wrong:
        raise LoadError(f"{name} is not as loaded: {'; '.join(wrong)}")


def _damaged(engine: Engine, storage: Storage) -> list[str]:
    """Parts whose checksums are wrong, on every server that answers."""
    found = (
        part
        for one in engine.list_servers()
        for table in storage.checked
        for part in one.fetch_table(f"CHECK TABLE {table}").to_pylist()
    )
    return [f"part {part['part_path']} is damaged: {part['message']}" for part in found if not part["is_passed"]]


def _wrong_positions(
    engine: Engine, storage: Storage, position: tuple[str, str], rows: int, reporter: Reporter
) -> list[str]:
    found = _Found()
    ra, dec = (quote_identifier(column) for column in position)
    place = "_part_index, _part_offset" if storage.is_here else "0 AS part, 0 AS place"
    sql = f"SELECT {place}, hpx29, {ra}, {dec} FROM {storage.reading}"
    with engine.stream_batches(sql, settings={"max_threads": 1}, batch_rows=65536) as batches:
        for batch in batches:
            reporter.check()
            found.add(batch)
            reporter.progress(found.rows, found.rows / max(rows, 1))
    reporter.output(f"positions: {found.rows - found.without_position:,}, {found.without_position:,} rows have none")
    ordered = f", order of {found.rows:,} rows checked" if storage.is_here else ""
    reporter.output(f"hpx29: {found.sampled:,} rows followed back to the sky{ordered}")
    counts = {
        "positions out of range": found.out_of_range,
        "rows out of order": found.out_of_order,
        "rows with a wrong hpx29": found.wrong_index,
    }
    return [f"{count:,} {what}" for what, count in counts.items() if count]


def _wrong_shapes(engine: Engine, storage: Storage, table: Table, reporter: Reporter) -> list[str]:
    """Of columns of shapes, what stands beside them: of some rows of each batch, texts are read again."""
    wrong = []
    for column in (c for c in table.columns if has_cover(c.type)):
        shape = shape_column(column.name) if has_shape_texts(column.type) else column.name
        names = ", ".join(quote_identifier(name) for name in (column.name, shape, cover_column(column.name)))
        sampled = bad = 0
        with engine.stream_batches(f"SELECT {names} FROM {storage.reading}", batch_rows=65536) as batches:
            for batch in batches:
                reporter.check()
                some = batch.take(pa.array(range(0, batch.num_rows, max(1, batch.num_rows // _SAMPLED))))
                sampled += some.num_rows
                bad += _count_wrong(column.type, some)
        reporter.output(f"{column.name}: the shapes and covers of {sampled:,} rows checked")
        wrong += [f"{bad:,} rows with a wrong shape or cover of {column.name}"] if bad else []
    return wrong


def _count_wrong(kind: ColumnType, rows: pa.RecordBatch) -> int:
    given, stored, numbers = (rows.column(i).to_pylist() for i in range(3))
    wrong = [not shape_columns.is_covered(kind, *pair) for pair in zip(stored, numbers, strict=True)]
    if has_shape_texts(kind):
        again = shape_columns.read_regions(kind, pa.array(given, pa.string()))[0].to_pylist()
        wrong = [w or a != s for w, a, s in zip(wrong, again, stored, strict=True)]
    return sum(wrong)


def _is_known(catalogue: Catalogue, storage: Storage) -> bool:
    return bool(catalogue.find_tables(storage.table_name, True, storage.schema_name, True))


def _doubles(column: pa.Array) -> NDArray[np.float64]:
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def _off_centre(hpx29: NDArray[np.uint64], ra: NDArray[np.float64], dec: NDArray[np.float64]) -> int:
    """How many positions (degrees) are farther from their cell's centre than any point of a cell is."""
    longitude, latitude = np.radians(ra), np.radians(dec)
    flat = np.cos(latitude)
    vectors = np.stack((flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)), axis=1)
    distances = np.linalg.norm(vectors - cell_centres(ORDER, hpx29), axis=1)
    return int((distances > max_cell_radius(ORDER) + 1e-15).sum())
