"""Look-ups of whole rows return the same bits from the row store as from the columns."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from adql.translation import Translation, translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.cluster_topology import read_topology
from clickhouse_schema.row_decoder import RowStoreError, decode_rows
from clickhouse_schema.row_store import MAX_ROW_COLUMNS, find_row_layout, row_value_sql
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.stored_nulls import allow_nulls_sql
from tap_service.services.queries.row_look_ups import RowLookUps
from tap_service.services.queries.stored_row_source import StoredRowSource
from tap_service.services.translation.translator import Translator
from tap_service.storage.engine.engine import Engine
from tests.adql.storing import catalogue_of, store
from tests.support.adql_rows import BY_PROJECTION

_LONG_TEXT = "long ünicode \U0001f52d " * 4000
_NAN = float(np.array([0x7FF8_0000_0000_BEEF], np.uint64).view(np.float64)[0])
_TIMES = (datetime(1900, 1, 1, tzinfo=UTC), datetime(2299, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))

#: Column -> values, which the rows combine
_VALUES: tuple[tuple[Column, tuple[Any, ...]], ...] = (
    (Column(name="a byte", datatype="byte"), (0, 255, 1, None)),
    (Column(name="s", datatype="short"), (-32768, 32767, 0, None)),
    (Column(name="i", datatype="int"), (-(2**31), 2**31 - 1, 0, None, 7)),
    (Column(name="l", datatype="long"), (-(2**63), 2**63 - 1, 2**53 + 1, None, 0)),
    (Column(name="f", datatype="float"), (0.0, -0.0, math.nan, math.inf, -math.inf, 1e-45, 3.4e38, None)),
    (Column(name="d", datatype="double"), (-0.0, 0.0, _NAN, math.inf, -math.inf, 5e-324, 1.7e308, None)),
    (Column(name="o", datatype="boolean"), (True, False, None)),
    (Column(name="c", datatype="string"), ("", "plain", None, "it's \\ `quoted`", "\x7f\t\n", "a\x00b")),
    (Column(name="u", datatype="unicode"), ("", "é\U0001f52d", None, _LONG_TEXT, " x ", "`'\"")),
    (Column(name="strings", datatype="char", arraysize="3x*"), ("abcdef", "", None, "xyz")),
    (Column(name="t", datatype="timestamp"), (*_TIMES, None, datetime(1970, 1, 1, tzinfo=UTC))),
    (Column(name="never null", datatype="double", nullable=False), (0.0, -0.0, 1.5)),
    (Column(name="text never null", datatype="unicode", nullable=False), ("", "x", "ü")),
    (Column(name="p", datatype="double", arraysize="2", xtype="point"), ([10.0, 20.0], [], [359.5, -0.0])),
    (Column(name="k", datatype="double", arraysize="3", xtype="circle"), ([10.0, 20.0, 1.0], [])),
    (
        Column(name="v", datatype="double", arraysize="*", xtype="polygon"),
        ([9.0, 19.0, 11.0, 19.0, 10.0, 21.0], []),
    ),
    (Column(name="span", datatype="double", arraysize="2", xtype="interval"), ([-math.inf, math.nan], [])),
    (Column(name="doubles", datatype="double", arraysize="*"), ([-0.0, _NAN], [], [1.0] * 5000, [0.0])),
    (Column(name="floats", datatype="float", arraysize="2x*"), ([1.5, -0.0], [], [math.nan, 1e-45] * 100)),
    (Column(name="bytes", datatype="byte", arraysize="*"), ([0, 255], [], [7])),
    (Column(name="shorts", datatype="short", arraysize="3"), ([1, -32768, 32767], [])),
    (Column(name="longs", datatype="long", arraysize="*"), ([2**63 - 1, -(2**63)], [], [0] * 300)),
    (Column(name="flags", datatype="boolean", arraysize="*"), ([True, None, False], [], [None], [False])),
    (Column(name="some", datatype="int", arraysize="*", null=-9), ([1, None, -(2**31)], [], [None, None])),
    (
        Column(name="z", datatype="float", votable_datatype="floatComplex"),
        ([1.5, -0.0], [], [math.nan, math.inf]),
    ),
    (
        Column(name="zs", datatype="double", votable_datatype="doubleComplex", arraysize="*"),
        ([1.0, 2.0, -0.0, 4.0], [], [0.0, 0.0]),
    ),
)
_ROWS = 97

KINDS = Table(
    name="kinds",
    columns=(
        Column(name="id", datatype="long", nullable=False),
        Column(name="ra", datatype="double", unit="deg"),
        Column(name="dec", datatype="double", unit="deg"),
        *(column for column, _ in _VALUES),
    ),
    layout=Layout(position=("ra", "dec"), id=("id",), row_store=True),
)
PAIRS = Table(
    name="pairs",
    columns=(
        Column(name="field", datatype="int", nullable=False),
        Column(name="Name", datatype="unicode"),
        *(Column(name=f"x{number}", datatype="double") for number in range(12)),
    ),
    layout=Layout(id=("field", "Name"), row_store=True),
)
SCHEMA = Schema(name="whole", tables=(KINDS, PAIRS))


def _make_kinds() -> pa.RecordBatch:
    arrays = {
        "id": pa.array([row * 1_000_003 for row in range(_ROWS)], pa.int64()),
        "ra": pa.array([row * 3.7 % 360 for row in range(_ROWS)]),
        "dec": pa.array([row * 1.9 % 180 - 90 for row in range(_ROWS)]),
    }
    for number, (column, pool) in enumerate(_VALUES):
        chosen = [pool[(row + number + row // len(pool)) % len(pool)] for row in range(_ROWS)]
        arrays[column.name] = pa.array(chosen, column.type.arrow)
    return pa.RecordBatch.from_pydict(arrays)


def _make_pairs() -> pa.RecordBatch:
    names = ["", "é", None, "a'b", "\\"]
    arrays = {"field": pa.array([row % 5 for row in range(50)], pa.int32()), "Name": pa.array([*names] * 10)}
    numbers = {f"x{k}": pa.array([row * 0.1 + k if (row + k) % 7 else None for row in range(50)]) for k in range(12)}
    return pa.RecordBatch.from_pydict(arrays | numbers)


@pytest.fixture(scope="module")
def catalogue(engine: Engine) -> Catalogue:
    engine.execute("CREATE DATABASE IF NOT EXISTS whole")
    store(engine, "whole", KINDS, [_make_kinds()])
    store(engine, "whole", PAIRS, [_make_pairs()])
    return catalogue_of(engine, SCHEMA, counts={("whole", "kinds"): _ROWS, ("whole", "pairs"): 50})


def _read_columns(engine: Engine, translation: Translation) -> list[pa.Array]:
    found = engine.fetch_table(translation.sql, translation.settings | BY_PROJECTION)
    if not found.num_columns:
        return [pa.array([], field.type.arrow) for field in translation.fields]
    return [column.combine_chunks() for column in found.columns]


def _read_stored(engine: Engine, translation: Translation) -> list[pa.Array]:
    assert translation.stored_rows is not None
    source = StoredRowSource(engine, translation.stored_rows, RowLookUps(engine))
    with source.stream_batches("SELECT throwIf(1)", settings=translation.settings | BY_PROJECTION) as batches:
        found = list(batches)
    if not found:
        return [pa.array([], field.type.arrow) for field in translation.fields]
    table = pa.Table.from_batches(found)
    table.validate(full=True)
    return [column.combine_chunks() for column in table.columns]


def _write_bits(array: pa.Array, kind: pa.DataType) -> list[Any]:
    """Return the values, floats as their bits; NULL differs from empty values."""
    array = array.cast(kind)
    if pa.types.is_list(kind):
        return [
            None if item is None else _write_bits(pa.array(item, kind.value_type), kind.value_type)
            for item in array.to_pylist()
        ]
    if pa.types.is_floating(kind):
        bits = np.asarray(array.fill_null(0.0)).view(f"u{kind.bit_width // 8}").tolist()
        return [bit if known else None for bit, known in zip(bits, array.is_valid().to_pylist(), strict=True)]
    return [*array.to_pylist()]


def _compare(engine: Engine, translation: Translation, *, in_order: bool = False) -> int:
    """Compare both answers; return the number of rows."""
    answers = []
    for columns in (_read_columns(engine, translation), _read_stored(engine, translation)):
        kinds = [field.type.arrow for field in translation.fields]
        rows = [*zip(*map(_write_bits, columns, kinds), strict=True)]
        answers.append(rows if in_order else sorted(rows, key=repr))
    assert answers[0] == answers[1]
    return len(answers[0])


def test_all_types_return_the_same_bits(engine: Engine, catalogue: Catalogue) -> None:
    every = ", ".join(str(row * 1_000_003) for row in range(_ROWS))
    translation = translate(f"SELECT * FROM whole.kinds WHERE id IN ({every})", catalogue)
    assert _compare(engine, translation) == _ROWS
    for row in range(0, _ROWS, 9):
        one = translate(f"SELECT * FROM whole.kinds WHERE id = {row * 1_000_003}", catalogue)
        assert _compare(engine, one) == 1


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT * FROM whole.kinds WHERE id IN (0, 1000003, 5) AND f < 'infinity'", None),
        ("SELECT * FROM whole.kinds WHERE id = 0 OR id = 3000009 OR id = 2000006", 3),
        ("SELECT TOP 2 * FROM whole.kinds WHERE id IN (0, 1000003, 2000006) ORDER BY l DESC, id", 2),
        ("SELECT *, d * 2 AS twice, u || 'x' AS more, * FROM whole.kinds WHERE id IN (0, 9000027)", 2),
        ("SELECT l, i, s, f, c, u, t, d, o, l AS again FROM whole.kinds WHERE id = 1000003 ORDER BY ra", 1),
        ("SELECT * FROM whole.kinds WHERE id = 1000003 AND 1 = CONTAINS(POINT(ra, dec), CIRCLE(3.7, -88, 1))", 1),
        ("SELECT * FROM whole.kinds WHERE id = 17", 0),
        ("SELECT * FROM whole.kinds AS k WHERE 1000003 = k.id ORDER BY id OFFSET 1", 0),
        ("SELECT * FROM whole.pairs WHERE field = 3 AND \"Name\" = 'a''b' ORDER BY x1", 10),
        ("SELECT * FROM whole.pairs WHERE field IN (1, 2)", 20),
        ('SELECT p.*, x1 + x2 AS more FROM whole.pairs AS p WHERE field = 1 AND "Name" IS NOT NULL', 10),
    ],
)
def test_answers_equal_those_of_the_columns(engine: Engine, catalogue: Catalogue, query: str, rows: int | None) -> None:
    found = _compare(engine, translate(query.replace("'infinity'", "1e38"), catalogue), in_order="ORDER BY" in query)
    assert rows is None or found == rows


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, ra, dec FROM whole.kinds WHERE id = 5",
        "SELECT * FROM whole.kinds WHERE id > 5",
        "SELECT * FROM whole.kinds WHERE l = 5",
        "SELECT * FROM whole.kinds WHERE id = l",
        "SELECT * FROM whole.kinds WHERE NOT id = 5",
        "SELECT * FROM whole.kinds WHERE id = 5 OR l = 5",
        "SELECT * FROM whole.kinds WHERE id IN (SELECT field FROM whole.pairs)",
        "SELECT DISTINCT x1, x2, x3, x4, x5, x6, x7, x8, x9 FROM whole.pairs WHERE field = 1",
        "SELECT k.*, p.x1 FROM whole.kinds AS k JOIN whole.pairs AS p ON p.field = k.i WHERE k.id = 5",
        "SELECT * FROM whole.pairs WHERE \"Name\" = 'x'",
        "SELECT *, ROW_NUMBER() OVER (ORDER BY x1) AS n FROM whole.pairs WHERE field = 1",
        "SELECT x1, x2, x3, x4, x5, x6, x7, x8, x9, COUNT(*) AS n FROM whole.pairs WHERE field = 1"
        " GROUP BY x1, x2, x3, x4, x5, x6, x7, x8, x9",
        "SELECT * FROM whole.pairs WHERE field = 1 UNION SELECT * FROM whole.pairs WHERE field = 2",
        f"SELECT * FROM whole.pairs WHERE field IN ({', '.join(map(str, range(1001)))})",
        f"SELECT l, i, s, f, c, u, t, d, o FROM whole.kinds WHERE id IN ({', '.join(map(str, range(17)))})",
    ],
)
def test_other_queries_read_columns(catalogue: Catalogue, query: str) -> None:
    assert translate(query, catalogue).stored_rows is None


def test_a_long_query_comes_from_another_process(engine: Engine, catalogue: Catalogue) -> None:
    translator = Translator(10.0, is_kept_ready=False)
    try:
        query = f"SELECT * FROM whole.kinds WHERE id IN ({', '.join(str(row * 1_000_003) for row in range(_ROWS))}) --"
        translation = translator.translate(query + " long" * 200, catalogue, 1000, None)
    finally:
        translator.close()
    assert _compare(engine, translation) == _ROWS


def test_the_plan_names_the_row_store(catalogue: Catalogue) -> None:
    [line] = [
        line for line in translate("SELECT * FROM whole.kinds WHERE id = 5", catalogue).plan if "row store" in line
    ]
    assert "read whole rows from the row store of whole.kinds, 97 rows, by id" in line


def test_only_a_bare_look_up_can_be_joined_with_others(engine: Engine, catalogue: Catalogue) -> None:
    def find_ids(query: str) -> list[Any]:
        stored = translate(query, catalogue).stored_rows
        assert stored is not None
        return [literal.value for literal in stored.look_up.ids] if stored.look_up is not None else []

    is_sharded = read_topology(engine).is_cluster  # each shard is asked for its own rows
    assert find_ids("SELECT * FROM whole.kinds WHERE id IN (5, -7)") == ([] if is_sharded else [5, -7])
    for more in ("AND l = 3", "ORDER BY id", "OFFSET 1"):
        assert find_ids(f"SELECT * FROM whole.kinds WHERE id = 5 {more}") == []
    assert find_ids("SELECT * FROM whole.kinds WHERE id = 5.0") == []
    assert find_ids("SELECT *, l + 1 FROM whole.kinds WHERE id = 5") == []


def test_a_table_without_its_row_store_is_read_from_its_columns(engine: Engine) -> None:
    bare = PAIRS.model_copy(update={"name": "bare", "layout": Layout(id=("field", "Name"))})
    store(engine, "whole", bare, [_make_pairs()])
    wanted = bare.model_copy(update={"layout": PAIRS.layout})
    catalogue = catalogue_of(engine, Schema(name="whole", tables=(wanted,)))
    translation = translate("SELECT * FROM whole.bare WHERE field = 1", catalogue)
    assert translation.stored_rows is not None
    source = StoredRowSource(engine, translation.stored_rows, RowLookUps(engine))
    with source.stream_batches(translation.sql, settings=translation.settings) as batches:
        assert sum(batch.num_rows for batch in batches) == 10


def test_the_widest_table(engine: Engine) -> None:
    names = [f"c{number}" for number in range(1, MAX_ROW_COLUMNS)]
    kinds = ("float", "unicode", "long", "boolean")
    columns = (Column(name=name, datatype=kinds[number % 4]) for number, name in enumerate(names))
    wide = Table(
        name="wide",
        columns=(Column(name="id", datatype="int", nullable=False), *columns),
        layout=Layout(id=("id",), row_store=True),
    )
    rows = {
        name: pa.array([None, None], column.type.arrow) for name, column in zip(names, wide.columns[1:], strict=True)
    }
    store(engine, "whole", wide, [pa.RecordBatch.from_pydict({"id": pa.array([1, 2], pa.int32()), **rows})])
    translation = translate(
        "SELECT * FROM whole.wide WHERE id = 2", catalogue_of(engine, Schema(name="whole", tables=(wide,)))
    )
    assert _compare(engine, translation) == 1


# --- the bytes --------------------------------------------------------------------------------------------------------


@pytest.fixture
def stored(engine: Engine, catalogue: Catalogue) -> pa.Array:
    """Return the rows of KINDS as bytes."""
    layout = find_row_layout(KINDS)
    assert layout is not None
    if read_topology(engine).is_cluster:
        pytest.skip("the bytes are the same on a cluster")
    return engine.fetch_table(f"SELECT `{layout.column}` FROM whole.kinds ORDER BY id").column(0).combine_chunks()


def test_a_column_that_becomes_nullable_keeps_its_bytes(engine: Engine, catalogue: Catalogue, stored: pa.Array) -> None:
    layout = find_row_layout(KINDS)
    assert layout is not None
    plain = Column(name="ra", datatype="double", unit="deg")
    engine.execute(
        f"ALTER TABLE whole.kinds {allow_nulls_sql(KINDS.model_copy(update={'columns': (plain,)}), ['ra'])}",
        {"mutations_sync": 2, "alter_sync": 2},
    )
    wrong = f"countIf(`{layout.column}` != {row_value_sql(layout)})"
    assert engine.fetch_table(f"SELECT {wrong} AS n FROM whole.kinds").column(0).to_pylist() == [0]


def test_the_layout_of_other_columns_has_another_name() -> None:
    def name(*columns: Column, **layout: Any) -> str:
        found = find_row_layout(Table(name="t", columns=columns, layout=Layout(id=("id",), row_store=True, **layout)))
        assert found is not None
        return found.column

    id_, one, other = (Column(name=each, datatype="int") for each in ("id", "one", "other"))
    assert name(id_, one) == name(one, id_) == name(id_, one.model_copy(update={"nullable": False}))
    assert len({name(id_), name(id_, one), name(id_, other), name(id_, Column(name="one", datatype="long"))}) == 4


def _damage(row: bytes, kind: str) -> bytes:
    layout = find_row_layout(KINDS)
    assert layout is not None
    at = layout.counts_at
    if kind == "short":
        return row[: layout.fixed_bytes - 1]
    if kind == "cut":
        return row[:-1]
    if kind == "longer":
        return row + b"x"
    if kind == "empty":
        return b""
    return row[:at] + b"\xff\xff\xff\xff" + row[at + 4 :]  # a count beyond the end


@pytest.mark.parametrize("kind", ["short", "cut", "longer", "empty", "count"])
def test_bytes_of_another_length_are_refused(stored: pa.Array, kind: str) -> None:
    layout = find_row_layout(KINDS)
    assert layout is not None
    rows = stored.cast(pa.binary()).to_pylist()
    damaged = pa.array([*rows[:3], _damage(rows[3], kind), *rows[4:]], pa.binary())
    with pytest.raises(RowStoreError):
        decode_rows(damaged, layout, layout.slots)


def test_empty_answers_are_decoded(stored: pa.Array) -> None:
    layout = find_row_layout(KINDS)
    assert layout is not None
    for array in (stored.slice(0, 0), pa.array([], pa.binary())):
        assert [len(column) for column in decode_rows(array, layout, layout.slots)] == [0] * len(KINDS.columns)
