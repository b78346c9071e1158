"""``skyhouse verify`` of a kept match: checks its counts, and compares it with a recomputed match and with numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables.catalogue_log import read_match_records
from clickhouse_schema.kept_match import MATES, NEIGHBOURS, RANK, SEPARATION, MatchSide
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.table_ddl import given_columns
from loaders.pipeline.kept_match import KeptMatch
from loaders.pipeline.match_rows import RowsQuery
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine

#: Number of left rows whose partners are searched among all right rows
_SAMPLE_ROWS = 50

_BATCH_ROWS = 16384
_MAS_PER_DEGREE = 3.6e6

#: Degrees by which equal separations may differ, such as from a pole with several right ascensions
_ROUNDING = 1e-11

Reals = NDArray[np.float64]


def find_match_problems(
    engine: Engine, catalogue: Catalogue, schema: Schema, table: Table, reporter: Reporter
) -> list[str]:
    """Return the problems of the kept match ``table``, and report what was checked. Raises ``LoadError``."""
    match = KeptMatch(engine, catalogue, schema, table)
    record = read_match_records(engine).get(match.name)
    if record is None or not record.is_current:
        return [f"it is out of date, so queries do not use it: skyhouse match follow {match.name}"]
    errors = _find_count_problems(engine, match, table)
    reporter.output("neighbours and mates: counted from both tables")
    pieces = match.list_pieces(record.reach)
    wrong = 0
    for number, (region, order) in enumerate(pieces, 1):
        made = match.rows.build_query(region, record.reach, order)
        stored = f"{match.storage.live.rows_sql} WHERE {region.condition_sql()}"
        found = _sum_rows(match, table, RowsQuery(f"SELECT * FROM {stored}", {}), reporter)
        wrong += not found.is_equal(_sum_rows(match, table, made, reporter))
        reporter.progress(0, number / len(pieces))
    reporter.output(f"pairs: compared with a recomputed match, in {len(pieces)} pieces")
    errors += [f"the pairs of {wrong} of {len(pieces)} pieces differ from a recomputed match"] if wrong else []
    assert table.match is not None  # noqa: S101  it is a kept match
    sampled, differing = _check_sample(engine, match, table.match.kind)
    reporter.output(f"{sampled} rows of {match.rows.left.name} compared with all of {match.rows.right.name}")
    return errors + ([f"{differing} of {sampled} rows have other partners by brute force"] if differing else [])


def _find_count_problems(engine: Engine, match: KeptMatch, table: Table) -> list[str]:
    """Compare the counts of each pair with the numbers of pairs that share its left or right row."""
    assert table.match is not None  # noqa: S101  it is a kept match
    left, right = (_names_sql(side.key.columns) for side in (match.rows.left, match.rows.right))
    rows = match.storage.live.rows_sql
    near = f"max({NEIGHBOURS}) != count() OR max({RANK}) != count()" if table.match.kind == "all" else "count() != 1"
    checks = (
        (left, f"min({NEIGHBOURS}) != max({NEIGHBOURS}) OR {near} OR uniqExact({RANK}) != count()",
         f"rows of {match.rows.left.name} with a wrong number of neighbours"),
        (right, f"min({MATES}) != max({MATES}) OR max({MATES}) + 1 != count()",
         f"rows of {match.rows.right.name} with a wrong number of mates"),
    )  # fmt: skip
    errors = []
    for key, is_wrong, error in checks:
        counted = engine.fetch_table(
            f"SELECT count() AS n FROM (SELECT 1 FROM {rows} GROUP BY {key} HAVING {is_wrong})"
        )
        if number := int(counted.column(0)[0].as_py()):
            errors.append(f"{number:,} {error}")
    return errors


class _Sums(NamedTuple):
    rows: int
    hashes: int
    separations: float

    def is_equal(self, other: _Sums) -> bool:
        """Return whether the sums are equal; sums of separations may differ by rounding."""
        is_close = math.isclose(self.separations, other.separations, rel_tol=1e-9, abs_tol=1e-6)
        return (self.rows, self.hashes) == (other.rows, other.hashes) and is_close


def _sum_rows(match: KeptMatch, table: Table, query: RowsQuery, reporter: Reporter) -> _Sums:
    hashed = (quote_identifier(name) for name in given_columns(table) if name != SEPARATION)
    # a column without NULLs is not stored as Nullable, which changes its hash
    values = ", ".join(f"assumeNotNull({name})" for name in hashed)
    sql = f"SELECT count() AS n, sum(cityHash64(tuple({values}))) AS hashes, sum({SEPARATION}) AS apart"
    summed = RowsQuery(f"{sql} FROM ({query.sql})", query.settings)
    with match.rows.stream_rows(summed, reporter) as batches:
        [row] = [row for batch in batches for row in batch.to_pylist()]
    return _Sums(row["n"], row["hashes"], row["apart"] or 0.0)


# --- by brute force ---------------------------------------------------------------------------------------------------

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Positions:
    """Rows of one table: ids, unit vectors, their change per year, and epochs in years (NaN if unknown)."""

    ids: list[Row]
    vectors: Reals
    drift: Reals
    epochs: Reals


def _check_sample(engine: Engine, match: KeptMatch, kind: str) -> tuple[int, int]:
    """Search all right rows for the partners of a sample; return the numbers of sampled and of differing left rows."""
    left, right = match.rows.left, match.rows.right
    ids, kept_ids = (_names_sql(names) for names in (left.key.referenced_columns, left.key.columns))
    source, pairs = match.rows.read_sql(left), match.storage.live.rows_sql
    # half of the sample has partners, because perhaps few rows of the table have
    chosen = [
        f"SELECT {names} FROM {rows} GROUP BY {names} ORDER BY cityHash64({names}) LIMIT {_SAMPLE_ROWS // 2}"
        for names, rows in ((ids, source), (kept_ids, pairs))
    ]
    is_sampled = " OR ".join(f"({{0}}) GLOBAL IN ({sql})" for sql in chosen)
    sample = _read_positions(engine, match, left, f"{source} WHERE {is_sampled.format(ids)}")
    sql = f"SELECT {kept_ids}, {_names_sql(right.key.columns)} FROM {pairs} WHERE {is_sampled.format(kept_ids)}"
    kept: dict[Row, list[Row]] = {}
    for values in zip(*(column.to_pylist() for column in engine.fetch_table(sql).columns), strict=True):
        kept.setdefault(values[: len(left.key.columns)], []).append(values[len(left.key.columns) :])
    found: dict[Row, list[tuple[float, Row]]] = {}
    for part in sample:
        for others in _read_positions(engine, match, right, match.rows.read_sql(right)):
            apart = _find_separations(match, part, others)
            for i, j in zip(*np.nonzero(apart <= match.rows.radius), strict=True):
                found.setdefault(part.ids[i], []).append((float(apart[i, j]), others.ids[j]))
    names = [name for part in sample for name in part.ids]
    differing = sum(not _is_same(kind, found.get(name, []), kept.get(name, [])) for name in names)
    return len(names), differing


def _is_same(kind: str, found: list[tuple[float, Row]], kept: list[Row]) -> bool:
    """Whether the kept partners are the found partners. In a mutual match, a nearest row may have a nearer partner."""
    if kind == "all":
        return sorted(kept) == sorted(other for _, other in found)
    least = min((separation for separation, _ in found), default=0.0)
    nearest = [other for separation, other in found if separation <= least + _ROUNDING]
    return (len(kept) == 1 and kept[0] in nearest) or (not kept and (kind == "mutual" or not nearest))


def _read_positions(engine: Engine, match: KeptMatch, side: MatchSide, rows_sql: str) -> list[_Positions]:
    moved = side.motion if side is match.rows.moved_side else None
    epoch = quote_identifier(side.epoch) if isinstance(side.epoch, str) and side.epoch else repr(side.epoch or 0.0)
    numbers = [*map(quote_identifier, (*side.position, *(moved or ()))), epoch]
    values = ", ".join(f"toFloat64(ifNull({number}, nan)) AS __{i}" for i, number in enumerate(numbers))
    sql = f"SELECT {_names_sql(side.key.referenced_columns)}, {values} FROM {rows_sql}"
    found = []
    with engine.stream_batches(sql, batch_rows=_BATCH_ROWS) as batches:
        for batch in batches:
            count = len(side.key.referenced_columns)
            ids = [*zip(*(column.to_pylist() for column in batch.columns[:count]), strict=True)]
            lon, lat, *motion, epochs = (column.to_numpy() for column in batch.columns[count:])
            found.append(_Positions(ids, *_find_directions(lon, lat, motion), epochs))
    return found


def _find_directions(lon: Reals, lat: Reals, motion: Sequence[Reals]) -> tuple[Reals, Reals]:
    """Return the unit vectors of positions in degrees, and their change per year by a motion in mas/yr: (rows, 3)."""
    lon, lat = np.radians(lon), np.radians(lat)
    zero = np.zeros_like(lon)
    vectors = np.stack((np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)), axis=1)
    if not motion:
        return vectors, np.zeros_like(vectors)
    east = np.stack((-np.sin(lon), np.cos(lon), zero), axis=1)
    north = np.stack((-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)), axis=1)
    pmra, pmdec = (np.radians(np.nan_to_num(part) / _MAS_PER_DEGREE)[:, None] for part in motion)
    return vectors, pmra * east + pmdec * north


def _find_separations(match: KeptMatch, left: _Positions, right: _Positions) -> Reals:
    """Return the separations in degrees, of shape (left rows, right rows); NaN if a row has no position."""
    years = np.nan_to_num(right.epochs[None, :] - left.epochs[:, None])[:, :, None]
    one, other = left.vectors[:, None, :], right.vectors[None, :, :]
    if match.rows.moved_side is match.rows.left:
        one = one + years * left.drift[:, None, :]
    elif match.rows.moved_side is match.rows.right:
        other = other - years * right.drift[None, :, :]
    one, other = (each / np.linalg.norm(each, axis=2, keepdims=True) for each in (one, other))
    chords, sums = np.linalg.norm(one - other, axis=2), np.linalg.norm(one + other, axis=2)
    apart: Reals = np.degrees(2 * np.arctan2(chords, sums))
    return apart


def _names_sql(names: Sequence[str]) -> str:
    return ", ".join(map(quote_identifier, names))
